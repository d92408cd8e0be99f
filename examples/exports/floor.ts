import { type Channel, channels } from "./contact.ts";
import { partsOf, wordOf } from "./words.ts";

// Exactly these, as the whole cell: no language and no grammar is guessed. What else refuses, a map says.
const refusals = new Set(
  (
    "unsubscribed, unsubscribe, unsub, opted out, optedout, opt out, optout, do not contact, don't contact, do not email, " +
    "don't email, do not mail, do not call, do not text, no contact, no marketing, no email, no emails, dnc, suppressed, " +
    "blacklisted, blocklisted, consent withdrawn, consent revoked, remove me"
  ).split(", "),
);
const ofEmail = new Set(
  "complained, complaint, spam complaint, bounced, hard bounced, hard bounce".split(", "),
);

/** The channels that a cell refuses as a whole, in any case, and with `_` and `-` as spaces; of tags in quotation marks, also in brackets, by any. */
export function refusedIn(cell: string): readonly Channel[] {
  const text = cell.replaceAll("’", "'");
  const tags = /^[[({]?\s*".*"\s*[\])}]?$/s.test(text) ? partsOf(text) : [text];
  const tagWords = tags.filter((tag) => tag.length <= 30).map((tag) => wordOf(tag.replace(/[\s_-]+/g, " ")));
  if (tagWords.some((word) => refusals.has(word))) return channels;
  return tagWords.some((word) => ofEmail.has(word)) ? ["email"] : [];
}

/** Whether the name of a file may be that of a list of people who refused: `unsubscribed_2026-11.csv`. */
export const isNamedAsRefusal = (name: string) =>
  /unsub|opt.?(ed.?)?out|suppress|bounce|cleaned|complain|do.?not|black.?list|block.?list|\bdnc\b/i.test(
    name,
  );
