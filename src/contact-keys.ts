// The keys of a contact: two spellings of an address give one key. Imports nothing.

/** A contact as it is sent; a custom request may hold anything. */
export type Fields = Readonly<Record<string, unknown>>;

/** The key of each identifier: two spellings of it give one key (D35). */
const keysOf = {
  email: (email: string) => `email:${asDomainName(plainAddress(email))}`,
  phone(phone: string) {
    const digits = digitsOf(phone);
    return digits === "" ? `${sharedKind}:${plainAddress(phone)}` : `phone:${digits}`;
  },
  contactUUID: (contactUUID: string) => `contactUUID:${contactUUID.trim()}`,
};

/** The kind of key of a phone without a digit, such as `n/a`. */
const sharedKind = "text";

/** Whether a key can only be one person's: strangers may share a phone without a digit. */
export function isOnePersons(key: string): boolean {
  return !key.startsWith(`${sharedKind}:`);
}

/** NFKC, the coarsest form of Unicode: it unites composed and decomposed letters, and those of full width. */
function plainAddress(address: string): string {
  return address.normalize("NFKC").trim().toLowerCase();
}

/** An address with its domain as the DNS has it: `ada@müller.de` is `ada@xn--mller-kva.de`. */
function asDomainName(address: string): string {
  // As nearly all are: parsing a URL takes longer than all else of a key.
  if (/@[a-z.-]+$/.test(address)) return address;
  const domainStart = address.lastIndexOf("@") + 1;
  try {
    return address.slice(0, domainStart) + new URL(`http://${address.slice(domainStart)}`).hostname;
  } catch {
    return address;
  }
}

/** The digits of a phone, those of any script as ASCII: `+٠١ ٧١` is `0171`. */
function digitsOf(phone: string): string {
  return phone.replaceAll(/\P{Nd}/gu, "").replaceAll(/[^0-9]/gu, (digit) => {
    const codePoint = digit.codePointAt(0)!;
    // Unicode encodes the digits of a script one after the other from 0 on; some sets follow each other.
    let zeroPoint = codePoint;
    while (/\p{Nd}/u.test(String.fromCodePoint(zeroPoint - 1))) zeroPoint--;
    return String((codePoint - zeroPoint) % 10);
  });
}

/** The distinct keys of contacts. A blank identifier gives none, as strangers would share it; nor does another type. */
export function contactKeys(contacts: readonly unknown[]): string[] {
  const keys = new Set<string>();
  for (const contact of contacts.map(ownFields)) {
    for (const [kind, keyOf] of Object.entries(keysOf)) {
      const identifier = contact[kind];
      if (typeof identifier !== "string" && typeof identifier !== "number") continue;
      if (String(identifier).trim() !== "") keys.add(keyOf(String(identifier)));
    }
  }
  return [...keys];
}

/** The keys of a v2 contact, which need not be valid. */
export function v2ContactKeys(contact: unknown): string[] {
  return contactKeys(identifiersOf(contact).map(({ type, id }) => ({ [String(type)]: id })));
}

export function identifiersOf(contact: unknown): Fields[] {
  const { identifiers } = ownFields(contact);
  return Array.isArray(identifiers) ? identifiers.map(ownFields) : [];
}

/** The fields of an object, without a prototype: what others put there is no field. Another value has none. */
export function ownFields(contact: unknown): Fields {
  return Object.setPrototypeOf(typeof contact === "object" ? { ...contact } : {}, null) as Fields;
}
