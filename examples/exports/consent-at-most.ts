import type { Contact, OptIn } from "./mapped-contact.ts";
import { fromStrictest } from "./strictest-consent.ts";

/**
 * The consent of a row as a report carries it along: `email UNSUBSCRIBED, phone NON_SUBSCRIBED, suppressed`.
 *
 * A row that failed is mended and imported again by itself, without the file in which the same person has unsubscribed.
 * So the report says what the import had found out.
 */
export function consentInNote({ email_opt_in, phone_opt_in, is_suppressed }: Contact): string {
  return [
    ...(email_opt_in === undefined ? [] : [`email ${email_opt_in}`]),
    ...(phone_opt_in === undefined ? [] : [`phone ${phone_opt_in}`]),
    ...(is_suppressed ? ["suppressed"] : []),
  ].join(", ");
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
