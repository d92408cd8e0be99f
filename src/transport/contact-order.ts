/**
 * Writes to one contact, one after the other, in call order: so a retried `SUBSCRIBED` never overtakes the
 * `UNSUBSCRIBED` that was called after it. Other contacts are not held up, and nothing is kept for one without a call.
 */
export class ContactOrder {
  /** For each contact with a call: the end of the last one. */
  readonly #ends = new Map<string, Promise<void>>();

  /** `onWait` is told where there is something to wait for. */
  run<T>(contacts: readonly string[], write: () => Promise<T>, onWait: () => void): Promise<T> {
    const before = contacts.map((contact) => this.#ends.get(contact)).filter((end) => end !== undefined);
    if (before.length > 0) onWait();
    const result = before.length === 0 ? write() : Promise.all(before).then(write);
    const end: Promise<void> = result.then(
      () => this.#leave(contacts, end),
      () => this.#leave(contacts, end),
    );
    for (const contact of contacts) this.#ends.set(contact, end);
    return result;
  }

  #leave(contacts: readonly string[], end: Promise<void>): void {
    for (const contact of contacts) {
      if (this.#ends.get(contact) === end) this.#ends.delete(contact);
    }
  }
}
