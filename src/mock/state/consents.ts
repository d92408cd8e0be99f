import type { MockConsent, MockConsentChange, MockContact } from "./organization-state.ts";

/** The effect of an omitted opt-in on an existing contact. */
export type OmittedOptIn = "kept" | "SUBSCRIBED" | "NON_SUBSCRIBED";

/** One row of the state table: the sent value, else the initial value, else the endpoint's rule for existing contacts. */
export function nextOptIn(
  before: string | undefined,
  sent: string | undefined,
  omitted: OmittedOptIn,
): string {
  if (sent !== undefined) return sent;
  if (before === undefined) return "NON_SUBSCRIBED";
  return omitted === "kept" ? before : omitted;
}

type Consents = Pick<MockContact, "email_opt_in" | "phone_opt_in" | "is_suppressed">;

const FIELDS = { email: "email_opt_in", phone: "phone_opt_in", suppressed: "is_suppressed" } as const;

/**
 * The changes between two states of a contact; `before` is empty for a new one. A new contact begins with the consents of
 * the channels that it has, and with those that differ from the default.
 */
export function consentChanges(
  before: Partial<Consents>,
  contact: MockContact,
  { by, at }: Pick<MockConsentChange, "by" | "at">,
): MockConsentChange[] {
  const { id: contactId, email, phone } = contact;
  const person = { contactId, ...(email !== undefined && { email }), ...(phone !== undefined && { phone }) };
  const begins = { email: email !== undefined, phone: phone !== undefined, suppressed: false };
  const changes: MockConsentChange[] = [];
  for (const channel of ["email", "phone", "suppressed"] as const) {
    const [from, to] = [before[FIELDS[channel]], contact[FIELDS[channel]]];
    const isNew = from === undefined && !begins[channel];
    if (from === to || (isNew && (to === "NON_SUBSCRIBED" || to === false))) continue;
    changes.push({ ...person, channel, ...(from !== undefined && { from }), to, by, at });
  }
  return changes;
}

/** The consents of v2 identifiers: the latest of each. */
export function mergeConsents(
  before: readonly MockConsent[] = [],
  sent: readonly MockConsent[],
): MockConsent[] {
  const isRenewed = (old: MockConsent) =>
    sent.some((consent) => consent.type === old.type && consent.id === old.id);
  return [...before.filter((old) => !isRenewed(old)), ...sent];
}
