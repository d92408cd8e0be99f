import type { Contact, OptIn } from "./mapped-contact.ts";

/** The states of a channel, the strictest first. */
export const fromStrictest: readonly OptIn[] = ["UNSUBSCRIBED", "NON_SUBSCRIBED", "SUBSCRIBED"];

/**
 * Gives every contact the strictest consent that any of them has for the same address, or the same telephone number.
 *
 * One person may stand in two files, subscribed in the one and unsubscribed in the other, and whichever was sent last
 * would win. Hand in all rows, those that will not be sent too: a refusal counts even where a telephone number is
 * unreadable. Nothing but `email_opt_in`, `phone_opt_in` and `is_suppressed` is changed, on copies.
 */
export function withStrictestConsent(contacts: readonly Contact[]): Contact[] {
  const emailOptIns = strictestBy(contacts, (contact) => [contact.email, contact.email_opt_in]);
  const phoneOptIns = strictestBy(contacts, (contact) => [contact.phone, contact.phone_opt_in]);
  const suppressed = new Set(
    contacts.filter((contact) => contact.is_suppressed).map((contact) => contact.email),
  );
  return contacts.map((contact) => ({
    ...contact,
    ...(contact.email === undefined ? {} : { email_opt_in: emailOptIns.get(contact.email) }),
    ...(contact.phone === undefined ? {} : { phone_opt_in: phoneOptIns.get(contact.phone) }),
    ...(contact.email !== undefined && suppressed.has(contact.email) ? { is_suppressed: true } : {}),
  }));
}

type ChannelReading = (contact: Contact) => [identifier: string | undefined, optIn: OptIn | undefined];

function strictestBy(contacts: readonly Contact[], read: ChannelReading): Map<string, OptIn> {
  const strictest = new Map<string, OptIn>();
  for (const [identifier, optIn = "NON_SUBSCRIBED"] of contacts.map(read)) {
    if (identifier === undefined) continue;
    const known = strictest.get(identifier) ?? optIn;
    strictest.set(identifier, fromStrictest.indexOf(optIn) < fromStrictest.indexOf(known) ? optIn : known);
  }
  return strictest;
}
