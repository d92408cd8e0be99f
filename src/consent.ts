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
  /** Whether the person is asked to confirm first: until then `SUBSCRIBED` is shown as `NON_SUBSCRIBED`. */
  readonly isToBeConfirmed: boolean;
}

/** The value of a channel that the service decides. It equals no status. */
export const decidedByService = "decided by the service";

/** The consent of a write that is not known: it may have set any documented channel, to any status. */
export const unknownConsent: Consent = {
  email: decidedByService,
  phone: decidedByService,
  is_suppressed: decidedByService,
};

/** A contact as it is sent; a custom request may hold anything. */
type Body = Readonly<Record<string, unknown>>;

/** The states of a v1 contact's consent on one channel ("States and transitions"). */
export const optInStates = ["SUBSCRIBED", "NON_SUBSCRIBED", "UNSUBSCRIBED"] as const;

/** The consent that a v1 contact states ("v1 contact"). */
export function v1Consent({ email_opt_in, phone_opt_in, is_suppressed }: Body): Consent {
  return collectConsent([
    ["email", email_opt_in],
    ["phone", phone_opt_in],
    ["is_suppressed", is_suppressed],
  ]);
}

/**
 * Whether a v1 contact write that is carried out twice leaves the same state. Without `email_opt_in` add-to-list first
 * creates the contact as `NON_SUBSCRIBED`, and then makes it `SUBSCRIBED` ("States and transitions"); customer/create
 * does not document the case. With `double_opt_in` the service could send a second mail.
 */
export function isRepeatableV1Write(contact: Body): boolean {
  const { email, email_opt_in, phone, phone_opt_in, double_opt_in } = contact;
  if (double_opt_in === true) return false;
  if (email !== undefined && email_opt_in === undefined) return false;
  return phone === undefined || phone_opt_in !== undefined;
}

/** The consent that a v2 contact states, over all its identifiers ("v2 identifier object"). */
export function v2Consent(
  identifiers: readonly { readonly channels: Readonly<Record<string, unknown>> }[],
): Consent {
  const channels = identifiers.flatMap((identifier) => Object.entries(identifier.channels));
  return collectConsent(
    // Safe: the schema has checked the documented channels, and that no channel is null; others may have no status.
    channels.map(([channel, value]) => [channel, (value as { status?: string }).status]),
  );
}

/** Whether a v1 contact asks the person to confirm ("v1 contact", `double_opt_in`). */
export function isToBeConfirmed({ double_opt_in }: Body): boolean {
  return double_opt_in === true;
}

/** A channel with two different statuses keeps both, so it equals neither alone. */
function collectConsent(channels: readonly (readonly [channel: string, status: unknown])[]): Consent {
  const consent = new Map<string, string>();
  for (const [channel, value] of channels) {
    if (typeof value !== "string" && typeof value !== "boolean") continue;
    const status = String(value).toUpperCase();
    const before = consent.get(channel);
    consent.set(channel, before === undefined || before === status ? status : `${before} ${status}`);
  }
  return Object.fromEntries(consent);
}

/** The key of each identifier: two spellings of it give one key (D35). */
const keysOf = {
  email: (email: string) => `email:${asDomainName(plain(email))}`,
  phone(phone: string) {
    const digits = digitsOf(phone);
    return digits === "" ? `${sharedKind}:${plain(phone)}` : `phone:${digits}`;
  },
  contactUUID: (contactUUID: string) => `contactUUID:${contactUUID.trim()}`,
};

/** A phone without a digit, such as `n/a`. */
const sharedKind = "text";

/** Whether a key can only be one person's: strangers may share a phone without a digit. */
export function isOnePersons(key: string): boolean {
  return !key.startsWith(`${sharedKind}:`);
}

/** NFKC, the coarsest form of Unicode: it unites composed and decomposed letters, and those of full width. */
function plain(text: string): string {
  return text.normalize("NFKC").trim().toLowerCase();
}

/** An address with its domain as the DNS has it: `ada@müller.de` is `ada@xn--mller-kva.de`. */
function asDomainName(address: string): string {
  const domainStart = address.lastIndexOf("@") + 1;
  const url = `http://${address.slice(domainStart)}`;
  return URL.canParse(url) ? address.slice(0, domainStart) + new URL(url).hostname : address;
}

/** The digits in a text, those of any script as ASCII: `+٠١ ٧١` is `0171`. */
function digitsOf(text: string): string {
  return text.replaceAll(/\P{Nd}/gu, "").replaceAll(/[^0-9]/gu, (digit) => {
    const point = digit.codePointAt(0)!;
    // Unicode encodes the digits of a script one after the other from 0 on; some sets follow each other.
    let first = point;
    while (/\p{Nd}/u.test(String.fromCodePoint(first - 1))) first--;
    return String((point - first) % 10);
  });
}

/** The distinct keys of the contacts. A blank value gives none, as strangers would share it; nor does another type. */
export function contactKeys(
  contacts: readonly (Partial<Record<keyof typeof keysOf, unknown>> | undefined)[],
): string[] {
  const keys = new Set<string>();
  for (const contact of contacts) {
    for (const [kind, keyOf] of Object.entries(keysOf)) {
      if (contact === undefined || !Object.hasOwn(contact, kind)) continue;
      const value = contact[kind as keyof typeof keysOf]; // Safe: a key of `keysOf`
      if (typeof value !== "string" && typeof value !== "number") continue;
      if (String(value).trim() !== "") keys.add(keyOf(String(value)));
    }
  }
  return [...keys];
}
