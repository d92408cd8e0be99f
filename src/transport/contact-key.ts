// Names a contact, so that writes to one contact are known to be. A leaf.

/** What names a contact, in a form in which two spellings of one name are the same. */
const normalizers = {
  // Case is folded: two spellings of one address must not overtake each other, and nothing is lost if they were two.
  email: (email: string) => email.trim().toLowerCase(),
  // By its digits alone: `+1 555 0100` and `15550100` are one phone.
  phone: (phone: string) => phone.replaceAll(/\D/g, "") || phone,
  contactUUID: (contactUUID: string) => contactUUID,
};

/** The names of what is written to, each once. What is no text or number names nobody. */
export function contactKeys(
  contacts: readonly (Partial<Record<keyof typeof normalizers, unknown>> | undefined)[],
): string[] {
  const keys = contacts.flatMap((contact) =>
    Object.entries(normalizers).flatMap(([kind, normalize]) => {
      const value = contact?.[kind as keyof typeof normalizers]; // one of its own keys
      return typeof value === "string" || typeof value === "number"
        ? [`${kind}:${normalize(String(value))}`]
        : [];
    }),
  );
  return [...new Set(keys)];
}
