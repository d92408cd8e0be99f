import type { RowIssue } from "./csv-row.ts";
import type { Contact, OptIn } from "./mapped-contact.ts";
import { fromStrictest } from "./strictest-consent.ts";

/**
 * What a report carries along of a row that failed: `email UNSUBSCRIBED, phone NON_SUBSCRIBED, suppressed`.
 *
 * The row is mended and imported again by itself, without the file in which the same person has unsubscribed, or in
 * which somebody else has the same telephone number (`not +442079460018`). So the report says what the import had
 * found out. What was known of an address or a number that will be mended is not about the person, and is left out.
 */
export function reportNote(contact: Contact, issues: readonly RowIssue[]): string {
  const { email_opt_in, phone_opt_in, is_suppressed, phone } = contact;
  const isAtIssue = (field: string) => issues.some((issue) => issue.field === field);
  return [
    ...(email_opt_in === undefined || isAtIssue("email") ? [] : [`email ${email_opt_in}`]),
    ...(phone_opt_in === undefined || isAtIssue("phone") ? [] : [`phone ${phone_opt_in}`]),
    ...(is_suppressed && !isAtIssue("email") ? ["suppressed"] : []),
    ...(phone !== undefined && isAtIssue("phone") ? [`not ${phone}`] : []),
  ].join(", ");
}

/** What an earlier import found wrong with the row that cannot be seen in the row alone. */
export function notedIssues({ phone }: Contact, note = ""): RowIssue[] {
  const isRefused = phone !== undefined && note.split(", ").includes(`not ${phone}`);
  return isRefused
    ? [{ field: "phone", message: `${phone} was refused by an earlier import, and is still here` }]
    : [];
}

/** The contact with a consent that is not better than the note allows. */
export function withConsentAtMost(contact: Contact, note = ""): Contact {
  const email = strictest(contact.email_opt_in, boundIn(note, "email"));
  const phone = strictest(contact.phone_opt_in, boundIn(note, "phone"));
  return {
    ...contact,
    ...(email === undefined || contact.email === undefined ? {} : { email_opt_in: email }),
    ...(phone === undefined || contact.phone === undefined ? {} : { phone_opt_in: phone }),
    ...(/\bsuppressed\b/.test(note) ? { is_suppressed: true } : {}),
  };
}

function boundIn(note: string, channel: string): OptIn | undefined {
  const word = new RegExp(`\\b${channel} (\\w+)`).exec(note)?.[1];
  return fromStrictest.find((optIn) => optIn === word);
}

function strictest(own: OptIn | undefined, bound: OptIn | undefined): OptIn | undefined {
  return fromStrictest.find((optIn) => optIn === own || optIn === bound);
}
