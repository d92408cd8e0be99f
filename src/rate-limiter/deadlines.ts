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
    const last = this.#heap.pop()!;
    if (last !== entry) {
      this.#rise(last, entry.slot);
      this.#sink(last, last.slot);
    }
    entry.slot = -1;
  }

  #rise(entry: T, from: number): void {
    let slot = from;
    while (slot > 0) {
      const above = (slot - 1) >> 1;
      const parent = this.#heap[above]!;
      if (parent.deadlineAt <= entry.deadlineAt) break;
      this.#put(parent, slot);
      slot = above;
    }
    this.#put(entry, slot);
  }

  #sink(entry: T, from: number): void {
    let slot = from;
    for (;;) {
      const left = 2 * slot + 1;
      const right = left + 1;
      let below = left;
      const [leftOne, rightOne] = [this.#heap[left], this.#heap[right]];
      if (!leftOne) break;
      if (rightOne && rightOne.deadlineAt < leftOne.deadlineAt) below = right;
      const child = this.#heap[below]!;
      if (child.deadlineAt >= entry.deadlineAt) break;
      this.#put(child, slot);
      slot = below;
    }
    this.#put(entry, slot);
  }

  #put(entry: T, slot: number): void {
    this.#heap[slot] = entry;
    entry.slot = slot;
  }
}
