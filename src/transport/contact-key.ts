// The keys of a contact, by which writes to one contact are ordered. Imports nothing.

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
