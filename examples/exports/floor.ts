import { type Channel, channels, type OptIn } from "./contact.ts";
import { partsOf, wordOf } from "./words.ts";

/** What a plain refusal says, whatever the column is. */
export interface Refusal {
  readonly optIn: OptIn;
  readonly channels: readonly Channel[];
}

// Exactly these, as the whole cell: no language and no grammar is guessed. What else refuses, a map says.
const refusals = new Map<string, Refusal>([
  ...words(
    { optIn: "UNSUBSCRIBED", channels },
    "unsubscribed, unsubscribe, unsub, opted out, optedout, opt out, optout, do not contact, don't contact, do not email, " +
      "don't email, do not mail, do not call, do not text, no contact, no marketing, no email, no emails, dnc, suppressed, " +
      "blacklisted, blocklisted, consent withdrawn, consent revoked, remove me",
  ),
  ...words({ optIn: "UNSUBSCRIBED", channels: ["email"] }, "complained, complaint, spam complaint"),
  ...words({ optIn: "NON_SUBSCRIBED", channels: ["email"] }, "bounced, hard bounced, hard bounce"),
]);

function words(refusal: Refusal, list: string): [string, Refusal][] {
  return list.split(", ").map((word) => [word, refusal]);
}

/** The refusal that a cell is as a whole, in any case, and with `_` and `-` as spaces; of tags in quotation marks, those of each. */
export function refusalsIn(cell: string): Refusal[] {
  const tags = /^".*"$/s.test(cell) ? partsOf(cell) : [cell];
  return tags.flatMap((tag) =>
    tag.length > 30 ? [] : (refusals.get(wordOf(tag.replace(/[\s_-]+/g, " "))) ?? []),
  );
}

/** Whether the name of a file may be that of a list of people who refused: `unsubscribed_2026-11.csv`. */
export function isNamedAsRefusal(name: string): boolean {
  return /unsub|opt.?(ed.?)?out|suppress|bounce|cleaned|complain|do.?not|black.?list|block.?list|\bdnc\b/i.test(
    name,
  );
}
