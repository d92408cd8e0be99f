// Names a contact, so that writes to one contact are known to be. A leaf.

/** What names a contact, in a form in which two spellings of one name are the same. */
const plain = {
  // Case is folded: two spellings of one address must not overtake each other, and nothing is lost if they were two.
  email: (email: string) => email.trim().toLowerCase(),
  // By its digits alone: `+1 555 0100` and `15550100` are one phone.
  phone: (phone: string) => phone.replaceAll(/\D/g, "") || phone,
  contactUUID: (contactUUID: string) => contactUUID,
};

/** The names of what is written to, each once. What is no text or number names nobody. */
export function contactKeys(
  contacts: readonly (Partial<Record<keyof typeof plain, unknown>> | undefined)[],
): string[] {
  const keys = contacts.flatMap((contact) =>
    Object.entries(plain).flatMap(([kind, normalize]) => {
      const name = contact?.[kind as keyof typeof plain]; // one of its own keys
      return typeof name === "string" || typeof name === "number"
        ? [`${kind}:${normalize(String(name))}`]
        : [];
    }),
  );
  return [...new Set(keys)];
}
