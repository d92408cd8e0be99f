// What a write says of a contact: its keys and its consent, in one form for both families. Imports nothing.

/**
 * A contact's consent by channel: `email`, `phone`, any other channel of v2, and `is_suppressed`. The service decides
 * about a missing channel. Statuses are in capitals, as v1 writes them ("States and transitions").
 */
export type Consent = Readonly<Record<string, string>>;

/** A write that states a consent, and every key of its contact. */
export interface ConsentWrite {
  readonly contacts: readonly string[];
  readonly consent: Consent;
}

/** The value of a channel that the service decides. It equals no status. */
export const decidedByService = "decided by the service";

/** The consent that a v1 contact states ("v1 contact"). */
export function v1Consent(contact: {
  readonly email_opt_in?: string | undefined;
  readonly phone_opt_in?: string | undefined;
  readonly is_suppressed?: boolean | undefined;
}): Consent {
  return collectConsent([
    ["email", contact.email_opt_in],
    ["phone", contact.phone_opt_in],
    ["is_suppressed", contact.is_suppressed],
  ]);
}

/** The consent that a v2 contact states, over all its identifiers ("v2 identifier object"). */
export function v2Consent(
  identifiers: readonly { readonly channels: Readonly<Record<string, unknown>> }[],
): Consent {
  const channels = identifiers.flatMap((identifier) => Object.entries(identifier.channels));
  return collectConsent(
    // Safe: the schema has checked the documented channels; others may have no status.
    channels.map(([channel, value]) => [channel, (value as { status?: string } | undefined)?.status]),
  );
}

/** A line for each channel that is stated. */
export function consentLines(consent: Consent): string[] {
  return Object.entries(consent).map(([channel, status]) => `${channel}=${status}`);
}

/** A channel with two different statuses keeps both, so it equals neither alone. */
function collectConsent(channels: readonly (readonly [channel: string, status: unknown])[]): Consent {
  const consent = new Map<string, string>();
  for (const [channel, value] of channels) {
    // A custom request may hold anything.
    if (typeof value !== "string" && typeof value !== "boolean") continue;
    const status = String(value).toUpperCase();
    const before = consent.get(channel);
    consent.set(channel, before === undefined || before === status ? status : `${before} ${status}`);
  }
  return Object.fromEntries(consent);
}

/** Normalizes each identifier, so that two spellings of it give one key. */
const normalizers = {
  // Writes to two spellings of one address must keep their order; ordering two addresses costs nothing.
  email: (email: string) => email.trim().toLowerCase(),
  // Only the digits: `+1 555 0100` and `15550100` are one phone.
  phone: (phone: string) => phone.replaceAll(/\D/g, "") || phone,
  contactUUID: (contactUUID: string) => contactUUID,
};

/** The distinct keys of the contacts. A value that is neither string nor number gives none. */
export function contactKeys(
  contacts: readonly (Partial<Record<keyof typeof normalizers, unknown>> | undefined)[],
): string[] {
  const keys = new Set<string>();
  for (const contact of contacts) {
    for (const [kind, normalize] of Object.entries(normalizers)) {
      const value = contact?.[kind as keyof typeof normalizers]; // Safe: a key of `normalizers`
      if (typeof value === "string" || typeof value === "number")
        keys.add(`${kind}:${normalize(String(value))}`);
    }
  }
  return [...keys];
}
