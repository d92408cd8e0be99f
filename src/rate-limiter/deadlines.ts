/** Something that must not wait beyond a time. `slot` is where it stands in the heap; -1 where it does not. */
export interface Deadline {
  readonly deadlineAt: number;
  slot: number;
}

/** Deadlines, the soonest first: a binary heap in which each entry knows its slot, so that any of them can leave. */
export class Deadlines<T extends Deadline> {
  readonly #heap: T[] = [];

  first(): T | undefined {
    return this.#heap[0];
  }

  add(entry: T): void {
    this.#heap.push(entry);
    this.#rise(entry, this.#heap.length - 1);
  }

  remove(entry: T): void {
    if (entry.slot < 0) return;
    const last = this.#heap.pop();
    if (last && last !== entry) {
      this.#rise(last, entry.slot);
      this.#sink(last, last.slot);
    }
    entry.slot = -1;
  }

  #rise(entry: T, from: number): void {
    let slot = from;
    while (slot > 0) {
      const parent = this.#heap[(slot - 1) >> 1];
      if (!parent || parent.deadlineAt <= entry.deadlineAt) break;
      const above = parent.slot;
      this.#put(parent, slot);
      slot = above;
    }
    this.#put(entry, slot);
  }

  #sink(entry: T, from: number): void {
    let slot = from;
    for (;;) {
      const child = this.#sooner(this.#heap[2 * slot + 1], this.#heap[2 * slot + 2]);
      if (!child || child.deadlineAt >= entry.deadlineAt) break;
      const below = child.slot;
      this.#put(child, slot);
      slot = below;
    }
    this.#put(entry, slot);
  }

  #sooner(one: T | undefined, other: T | undefined): T | undefined {
    return one && other && other.deadlineAt < one.deadlineAt ? other : one;
  }

  #put(entry: T, slot: number): void {
    this.#heap[slot] = entry;
    entry.slot = slot;
  }
}
