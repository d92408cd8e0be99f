import type { V1OptIn } from "audience-sdk";
import type { Person, Table } from "../../examples/recipes/nightly/people.ts";

/** The table of the recipe for a nightly job, in memory. */
export class MemoryTable implements Table {
  readonly #people = new Map<string, Person>();

  async all(): Promise<Person[]> {
    return [...this.#people.values()];
  }

  async get(email: string): Promise<Person | undefined> {
    return this.#people.get(email);
  }

  async refuse(email: string, at: Date): Promise<void> {
    const person = this.#people.get(email);
    if (person?.email_opt_in === "UNSUBSCRIBED" || !person || person.consent_at >= at.toISOString()) return;
    this.#set({ ...person, email_opt_in: "UNSUBSCRIBED" }, at);
  }

  setCity(email: string, city: string): void {
    const person = this.#people.get(email);
    if (person) this.#people.set(email, { ...person, city });
  }

  /** What she has said on the website, now. */
  setConsent(email: string, consent: V1OptIn): void {
    this.#set({ city: "Bern", ...this.#people.get(email), email, email_opt_in: consent }, new Date());
  }

  consents(): Record<string, V1OptIn> {
    return Object.fromEntries(
      [...this.#people.values()].map((person) => [person.email, person.email_opt_in]),
    );
  }

  #set(person: Omit<Person, "consent_at">, at: Date): void {
    this.#people.set(person.email, { ...person, consent_at: at.toISOString() });
  }
}
