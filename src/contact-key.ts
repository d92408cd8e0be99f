// Names a contact, so that writes to one contact are known to be. A leaf.

/** Case is folded: two spellings of one address must not overtake each other, and nothing is lost if they were two. */
export function emailKey(email: string): string {
  return `email:${email.trim().toLowerCase()}`;
}

/** By its digits alone: `+1 555 0100` and `15550100` are one phone. */
export function phoneKey(phone: string | number): string {
  const text = String(phone);
  return `phone:${text.replaceAll(/\D/g, "") || text}`;
}

export function contactUUIDKey(contactUUID: string): string {
  return `contactUUID:${contactUUID}`;
}

/** Each contact once, of what may be absent. */
export function contactKeys(keys: readonly (string | undefined)[]): string[] {
  return [...new Set(keys.filter((key) => key !== undefined))];
}
