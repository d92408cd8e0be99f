import { type Channel, optIns, type OptIn, type RowIssue } from "./contact.ts";

/** The columns that a report adds: the reason of the failure, and a note. */
export const noteHeadings = { reason: "import: reason", note: "import: note" } as const;

/** Whether the column is one of a report: its reason or its note. */
export function isOfReport(heading: string): boolean {
  return heading === noteHeadings.reason || heading === noteHeadings.note;
}

/** The known consent of a person. */
export interface KnownConsent {
  readonly email: OptIn | undefined;
  readonly phone: OptIn | undefined;
  readonly isSuppressed: boolean;
  /** The plain refusals of the person, of which nothing better is sent. */
  readonly refusals: Readonly<Partial<Record<Channel, OptIn | undefined>>>;
}

// The row may have no consent because other rows of its file have one, and then needs none either.
const fileWithConsents = "file with consents";

/**
 * The note of a failed row: `email UNSUBSCRIBED, phone NON_SUBSCRIBED, suppressed, file with consents`.
 *
 * The corrected row is imported again alone, without the file in which the same person has unsubscribed, so the report
 * keeps the person's consent. The consent of an invalid address or number is left out: it is not about the person.
 */
export function reportNote(
  { email, phone, isSuppressed, refusals }: KnownConsent,
  issues: readonly RowIssue[],
  { hasFileConsents, cutAfter }: { hasFileConsents: boolean; cutAfter: number | undefined },
): string {
  const isAtIssue = (field: string) => issues.some((issue) => issue.field === field);
  return [
    ...(email === undefined || isAtIssue("email") ? [] : [`email ${email}`]),
    ...(phone === undefined || isAtIssue("phone") ? [] : [`phone ${phone}`]),
    ...(isSuppressed && !isAtIssue("email") ? ["suppressed"] : []),
    ...(refusals.email === undefined || isAtIssue("email") ? [] : [`email refused ${refusals.email}`]),
    ...(refusals.phone === undefined || isAtIssue("phone") ? [] : [`phone refused ${refusals.phone}`]),
    ...(cutAfter === undefined ? [] : [`cut after ${cutAfter}`]),
    ...(hasFileConsents ? [fileWithConsents] : []),
  ].join(", ");
}

/** Whether the note says that its file had consents. */
export function isOfFileWithConsents(note: string): boolean {
  return note.includes(fileWithConsents);
}

/** The number of cells of a line that was cut short. Until one of the missing cells is filled, it is refused again. */
export function cellsBeforeCut(note: string): number | undefined {
  const count = /\bcut after (\d+)/.exec(note)?.[1];
  return count === undefined ? undefined : Number(count);
}

/** Parses a note. */
export function parseNote(note: string): KnownConsent {
  const wordAfter = (channel: string) => {
    const word = new RegExp(`\\b${channel} (\\w+)`).exec(note)?.[1];
    return optIns.find((optIn) => optIn === word);
  };
  return {
    email: wordAfter("email"),
    phone: wordAfter("phone"),
    isSuppressed: /\bsuppressed\b/.test(note),
    refusals: { email: wordAfter("email refused"), phone: wordAfter("phone refused") },
  };
}
