import { type Channel, channels } from "./contact.ts";
import { partsOf, wordOf } from "./words.ts";

// Exactly these, as the whole cell: no language and no grammar is guessed. What else refuses, a map says.
const refusals = new Map<string, readonly Channel[]>([
  ...words(
    channels,
    "unsubscribed, unsubscribe, unsub, opted out, optedout, opt out, optout, do not contact, don't contact, do not email, " +
      "don't email, do not mail, do not call, do not text, no contact, no marketing, no email, no emails, dnc, suppressed, " +
      "blacklisted, blocklisted, consent withdrawn, consent revoked, remove me",
  ),
  ...words(["email"], "complained, complaint, spam complaint, bounced, hard bounced, hard bounce"),
]);

function words(refused: readonly Channel[], list: string): [string, readonly Channel[]][] {
  return list.split(", ").map((word) => [word, refused]);
}

/** The channels that a cell refuses as a whole, in any case, and with `_` and `-` as spaces; of tags in quotation marks, by any. */
export function refusedIn(cell: string): readonly Channel[] {
  const tags = /^".*"$/s.test(cell) ? partsOf(cell) : [cell];
  const tagWords = tags.filter((tag) => tag.length <= 30).map((tag) => wordOf(tag.replace(/[\s_-]+/g, " ")));
  return channels.filter((channel) => tagWords.some((word) => refusals.get(word)?.includes(channel)));
}

/** Whether the name of a file may be that of a list of people who refused: `unsubscribed_2026-11.csv`. */
export const isNamedAsRefusal = (name: string) =>
  /unsub|opt.?(ed.?)?out|suppress|bounce|cleaned|complain|do.?not|black.?list|block.?list|\bdnc\b/i.test(
    name,
  );
