/** Something that must not wait beyond a time. */
export interface Deadline {
  readonly deadlineAt: number;
}

/**
 * The deadlines of those who wait. The soonest is looked for only where the one before it has left: once for all whom
 * a free window serves, and not for each.
 */
export class Deadlines<T extends Deadline> {
  readonly #entries = new Set<T>();
  #soonestAt: number | undefined;

  /** `Infinity` where nobody has one. */
  get soonestAt(): number {
    if (this.#soonestAt === undefined) {
      this.#soonestAt = Infinity;
      for (const { deadlineAt } of this.#entries) this.#soonestAt = Math.min(this.#soonestAt, deadlineAt);
    }
    return this.#soonestAt;
  }

  add(entry: T): void {
    this.#soonestAt = Math.min(this.soonestAt, entry.deadlineAt);
    this.#entries.add(entry);
  }

  remove(entry: T): void {
    if (this.#entries.delete(entry) && entry.deadlineAt === this.#soonestAt) this.#soonestAt = undefined;
  }

  /** Those before `time`, the soonest first. */
  before(time: number): T[] {
    if (this.soonestAt >= time) return [];
    const due = [...this.#entries].filter(({ deadlineAt }) => deadlineAt < time);
    return due.toSorted((one, other) => one.deadlineAt - other.deadlineAt);
  }
}
