// What a write says of a contact: its keys and its consent, in one form for both families. Imports nothing.

/**
 * What a write says, by channel: `email`, `phone`, any other channel of v2, and `is_suppressed`. Statuses are in capitals, as
 * v1 writes them ("States and transitions"). An empty one: the write names an address of the channel, and says nothing of it.
 */
export type Consent = ReadonlyMap<string, string>;

/** What a write says of a contact, by the keys of the contact. A v2 contact says it for each identifier. */
export interface ConsentWrite {
  readonly contacts: readonly string[];
  readonly consent: Consent;
}

const suppressed = "is_suppressed";

function refusalOf(channel: string): string {
  return channel === suppressed ? "TRUE" : "UNSUBSCRIBED";
}

export function isRefusal(channel: string, word: string): boolean {
  return word === refusalOf(channel);
}

/** The channels that are refused. */
export function refusalsOf(said: Consent): string[] {
  return [...said].flatMap(([channel, word]) => (isRefusal(channel, word) ? [channel] : []));
}

/** The value of a channel that the service decides, and may set to `SUBSCRIBED`. It equals no status. */
export const decidedByService = "decided by the service";

/** The consent of a write that is not known: it may do anything with the channels of its contact. */
export const unknownConsent: Consent = new Map([
  ["email", ""],
  ["phone", ""],
  ["is_suppressed", ""],
]);

/** A contact as it is sent; a custom request may hold anything. */
type Body = Readonly<Record<string, unknown>>;

/** The states of a v1 contact's consent on one channel ("States and transitions"). */
export const optInStates = ["SUBSCRIBED", "NON_SUBSCRIBED", "UNSUBSCRIBED"] as const;

const v1Channels = [
  ["email", "email_opt_in"],
  ["phone", "phone_opt_in"],
] as const;

/** The consent that a v1 contact states ("v1 contact"). It need not be valid. */
export function v1Consent(contact: unknown, unstatedEmail = ""): Consent {
  const fields = ownFields(contact);
  const consent = new Map<string, string>();
  for (const [channel, optIn] of v1Channels) {
    const status = fields[optIn];
    if (status !== undefined) consent.set(channel, inCapitals(status));
    else if (fields[channel] !== undefined) consent.set(channel, channel === "email" ? unstatedEmail : "");
  }
  const { is_suppressed } = fields;
  if (is_suppressed !== undefined) consent.set("is_suppressed", inCapitals(is_suppressed));
  return consent;
}

export function v1ConsentWrites(contact: unknown, unstatedEmail?: string): ConsentWrite[] {
  return [{ contacts: contactKeys([contact]), consent: v1Consent(contact, unstatedEmail) }];
}

/** A suppression as a response shows it: also as a string or a number. */
const shownFlags = new Map(Object.entries({ TRUE: "TRUE", 1: "TRUE", FALSE: "FALSE", 0: "FALSE" }));

/** What the service, or a snapshot of it, shows of a contact, as a write says it (D178). What is not shown is absent. */
export function shownConsent(contact: object | undefined): Consent {
  const { email_opt_in, phone_opt_in, is_suppressed } = ownFields(contact);
  const words = {
    email: inCapitals(email_opt_in ?? ""),
    phone: inCapitals(phone_opt_in ?? ""),
    is_suppressed: shownFlags.get(inCapitals(is_suppressed)) ?? "",
  };
  return new Map(Object.entries(words).filter(([, word]) => word !== ""));
}

export function shownRefusals(contact: object | undefined): string[] {
  return refusalsOf(shownConsent(contact));
}

/** Whether a word that is shown is one of the documented. */
export function isDocumented(channel: string, word: string): boolean {
  return channel === suppressed || optInStates.some((state) => state === word);
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

/**
 * What a v2 contact states, identifier by identifier ("v2 identifier object"): a word counts for the address of its own
 * identifier, and not for another of the same type. It need not be valid.
 */
export function v2ConsentWrites(contact: unknown): ConsentWrite[] {
  const identifiers = identifiersOf(contact);
  return identifiers.map((identifier) => {
    const { type, channels } = identifier;
    const stated = ownFields(channels);
    const names = new Set([String(type), ...Object.keys(stated)]);
    const statusOf = (channel: string) => inCapitals(ownFields(stated[channel])["status"] ?? "");
    const keyed = identifiers.filter((other) => other === identifier || other["type"] !== type);
    return {
      contacts: keysOfIdentifiers(keyed),
      consent: new Map([...names].map((channel) => [channel, statusOf(channel)])),
    };
  });
}

/** The keys of a v2 contact. It need not be valid. */
export function v2ContactKeys(contact: unknown): string[] {
  return keysOfIdentifiers(identifiersOf(contact));
}

function keysOfIdentifiers(identifiers: readonly Body[]): string[] {
  return contactKeys(identifiers.map(({ type, id }) => ({ [String(type)]: id })));
}

function identifiersOf(contact: unknown): Body[] {
  const { identifiers } = ownFields(contact);
  return Array.isArray(identifiers) ? identifiers.map(ownFields) : [];
}

/** A copy without a prototype: what others put there is no consent. */
function ownFields(value: unknown): Body {
  return Object.assign(Object.create(null) as Body, value);
}

function inCapitals(status: unknown): string {
  return String(status).trim().toUpperCase();
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
  try {
    return address.slice(0, domainStart) + new URL(`http://${address.slice(domainStart)}`).hostname;
  } catch {
    return address;
  }
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
export function contactKeys(contacts: readonly unknown[]): string[] {
  const keys = new Set<string>();
  for (const contact of contacts.map(ownFields)) {
    for (const [kind, keyOf] of Object.entries(keysOf)) {
      const value = contact[kind];
      if (typeof value !== "string" && typeof value !== "number") continue;
      if (String(value).trim() !== "") keys.add(keyOf(String(value)));
    }
  }
  return [...keys];
}
