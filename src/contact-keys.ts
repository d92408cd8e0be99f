// The keys of a contact: two spellings of an address give one key. Imports nothing.

/** A contact as it is sent; a custom request may hold anything. */
export type ContactFields = Readonly<Record<string, unknown>>;

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

/** The keys of a v2 contact. It need not be valid. */
export function v2ContactKeys(contact: unknown): string[] {
  return keysOfIdentifiers(identifiersOf(contact));
}

export function keysOfIdentifiers(identifiers: readonly ContactFields[]): string[] {
  return contactKeys(identifiers.map(({ type, id }) => ({ [String(type)]: id })));
}

export function identifiersOf(contact: unknown): ContactFields[] {
  const { identifiers } = ownFields(contact);
  return Array.isArray(identifiers) ? identifiers.map(ownFields) : [];
}

/** A copy without a prototype: what others put there is no consent. */
export function ownFields(value: unknown): ContactFields {
  return Object.assign(Object.create(null) as ContactFields, value);
}
