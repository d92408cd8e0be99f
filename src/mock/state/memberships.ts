import type { MockMembership } from "./organization-state.ts";

/** The members of the lists of one organization. */
export class Memberships {
  readonly #byList = new Map<string, Map<string, MockMembership>>();

  constructor(memberships: readonly MockMembership[] = []) {
    for (const membership of memberships) this.add(membership);
  }

  /** Whether the contact was no member before. */
  add(membership: MockMembership): boolean {
    const { listId, contactId } = membership;
    const members = this.#byList.get(listId) ?? new Map<string, MockMembership>();
    this.#byList.set(listId, members);
    if (members.has(contactId)) return false;
    members.set(contactId, membership);
    return true;
  }

  /** Ends all memberships of a contact but those in these lists. Returns the lists that it left. */
  leaveAllBut(contactId: string, listIds: readonly string[]): string[] {
    const others = [...this.#byList].filter(([listId]) => !listIds.includes(listId));
    return others.filter(([, members]) => members.delete(contactId)).map(([listId]) => listId);
  }

  /** List by list. */
  all(): MockMembership[] {
    return [...this.#byList.values()].flatMap((members) => Array.from(members.values()));
  }
}
