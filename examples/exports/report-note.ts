import type { OptIn, RowIssue } from "./contact.ts";
import { optIns } from "./contact.ts";

/** The columns that a report adds: why a row failed, and what else must be known of it. */
export const noteHeadings = { reason: "import: reason", note: "import: note" } as const;

/** What is known of a person's consent. */
export interface KnownConsent {
  readonly email: OptIn | undefined;
  readonly phone: OptIn | undefined;
  readonly isSuppressed: boolean;
}

/**
 * What a report carries along of a row that failed: `email UNSUBSCRIBED, phone NON_SUBSCRIBED, suppressed`.
 *
 * The row is mended and imported again by itself, without the file in which the same person has unsubscribed. So the
 * report says what the import had found out. What was known of an address or a number that will be mended is not about
 * the person, and is left out.
 */
export function reportNote(
  { email, phone, isSuppressed }: KnownConsent,
  issues: readonly RowIssue[],
): string {
  const isAtIssue = (field: string) => issues.some((issue) => issue.field === field);
  return [
    ...(email === undefined || isAtIssue("email") ? [] : [`email ${email}`]),
    ...(phone === undefined || isAtIssue("phone") ? [] : [`phone ${phone}`]),
    ...(isSuppressed && !isAtIssue("email") ? ["suppressed"] : []),
  ].join(", ");
}

/** What a note says. */
export function parseNote(note: string): KnownConsent {
  const wordAfter = (channel: string) => {
    const word = new RegExp(`\\b${channel} (\\w+)`).exec(note)?.[1];
    return optIns.find((optIn) => optIn === word);
  };
  return { email: wordAfter("email"), phone: wordAfter("phone"), isSuppressed: /\bsuppressed\b/.test(note) };
}
