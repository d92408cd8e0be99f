import type { MockVariants } from "../variants.ts";
import type { MockContact } from "./organization-state.ts";

/** The contacts of one organization, by id, e-mail address and phone number. */
export class ContactIndex {
  readonly #variants: Pick<MockVariants, "emailCase" | "matchFirst">;
  readonly #byId = new Map<string, MockContact>();
  readonly #byEmail = new Map<string, MockContact>();
  readonly #byPhone = new Map<string, MockContact>();
  /** The number of each one's last change. A clock may stand still. */
  readonly #changes = new Map<MockContact, number>();
  #changeCount = 0;

  constructor(variants: Pick<MockVariants, "emailCase" | "matchFirst">) {
    this.#variants = variants;
  }

  byId(id: string): MockContact | undefined {
    return this.#byId.get(id);
  }

  /** In what order the service lists contacts is not documented. */
  inOrder(contacts: readonly MockContact[], order: MockVariants["v1CustomerOrder"]): readonly MockContact[] {
    if (order === "created") return contacts;
    const newest = contacts.toReversed();
    if (order === "newest") return newest;
    // A seed and a saved state tell only the times of the changes before.
    return newest.sort(
      (one, other) =>
        this.#numberOf(other) - this.#numberOf(one) || Date.parse(other.updated) - Date.parse(one.updated),
    );
  }

  /** It was changed. */
  count(contact: MockContact): void {
    this.#changes.set(contact, ++this.#changeCount);
  }

  #numberOf(contact: MockContact): number {
    return this.#changes.get(contact) ?? 0;
  }

  /** The contact "with the same email or phone". */
  find({ email, phone }: Pick<MockContact, "email" | "phone">): MockContact | undefined {
    const byEmail = email === undefined ? undefined : this.#byEmail.get(this.#emailKey(email));
    const byPhone = phone === undefined ? undefined : this.#byPhone.get(phone);
    return this.#variants.matchFirst === "email" ? (byEmail ?? byPhone) : (byPhone ?? byEmail);
  }

  /** Of several contacts with one address or number, the first has it. */
  add(contact: MockContact): void {
    this.#byId.set(contact.id, contact);
    if (contact.email !== undefined) setIfFree(this.#byEmail, this.#emailKey(contact.email), contact);
    if (contact.phone !== undefined) setIfFree(this.#byPhone, contact.phone, contact);
  }

  /** Forgets its address and its number, before they change. */
  remove(contact: MockContact): void {
    if (contact.email !== undefined) deleteIfOwn(this.#byEmail, this.#emailKey(contact.email), contact);
    if (contact.phone !== undefined) deleteIfOwn(this.#byPhone, contact.phone, contact);
  }

  #emailKey(email: string): string {
    return this.#variants.emailCase === "insensitive" ? email.toLowerCase() : email;
  }
}

function setIfFree(index: Map<string, MockContact>, key: string, contact: MockContact): void {
  if (!index.has(key)) index.set(key, contact);
}

function deleteIfOwn(index: Map<string, MockContact>, key: string, contact: MockContact): void {
  if (index.get(key) === contact) index.delete(key);
}
