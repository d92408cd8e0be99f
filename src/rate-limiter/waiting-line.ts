import Sync from "bottleneck/lib/Sync.js";
import { Deadlines } from "./deadlines.ts";
import type { Permit } from "./permit.ts";
import { Turns } from "./turns.ts";

/** A call that waits for a place. */
export interface Waiter {
  readonly level: number;
  readonly client: object;
  readonly deadlineAt: number;
  /** How many others may wait with it; it is refused where more do. */
  readonly maxQueued: number;
  /** Stops listening to the call's signal. */
  forget: () => void;
  readonly resolve: (place: Permit) => void;
  readonly reject: (reason: unknown) => void;
}

// Before the ten priorities: the calls that were refused with 429.
export const firstOfAll = 0;
const levels = 11;

/**
 * Those who wait, and the door that lets them in.
 *
 * The door is bottleneck's: it opens once at a time, however many places come free meanwhile, and lets in everybody
 * there is a place for. Who that is is settled at that moment and not before (D63).
 */
export class WaitingLine {
  readonly #turns = new Turns<Waiter>(levels);
  readonly #deadlines = new Deadlines<Waiter>();
  /** Those that came beyond their `maxQueued`, as it was not known whether there is a place for them. */
  readonly #beyond = new Set<Waiter>();
  readonly #letIn: () => void;
  readonly #door = new Sync("door", Promise);
  #isOpening = false;

  /** `letIn` is called whenever the door opens, and lets in as many as there are places. */
  constructor(letIn: () => void) {
    this.#letIn = letIn;
  }

  get size(): number {
    return this.#turns.size;
  }

  join(waiter: Waiter): void {
    if (this.size >= waiter.maxQueued) this.#beyond.add(waiter);
    this.#turns.add(waiter);
    if (waiter.deadlineAt < Infinity) this.#deadlines.add(waiter);
  }

  /** Takes one out wherever it stands, and leaves nothing of it behind; false where it was out already. */
  leave(waiter: Waiter): boolean {
    if (!this.#turns.remove(waiter)) return false;
    this.#cleanUp(waiter);
    return true;
  }

  /** Takes out who goes next. */
  next(): Waiter | undefined {
    const waiter = this.#turns.shift();
    if (waiter) this.#cleanUp(waiter);
    return waiter;
  }

  /** Takes out everybody who must not wait until `time`. */
  *leaveBefore(time: number): Generator<Waiter> {
    for (const waiter of this.#deadlines.before(time)) {
      this.leave(waiter);
      yield waiter;
    }
  }

  /** There is no place for those that wait: takes out everybody beyond their `maxQueued`, who came last first. */
  *leaveBeyond(): Generator<Waiter> {
    for (const waiter of [...this.#beyond].toReversed()) {
      if (this.size <= waiter.maxQueued) continue;
      this.leave(waiter);
      yield waiter;
    }
    // Whoever stays has a place in the queue.
    this.#beyond.clear();
  }

  /** Takes out everybody. */
  *leaveAll(): Generator<Waiter> {
    for (let waiter = this.next(); waiter; waiter = this.next()) yield waiter;
  }

  /** The soonest time at which somebody must leave. */
  get nextDeadlineAt(): number {
    return this.#deadlines.soonestAt;
  }

  /** How many would go before one that came now. */
  ahead(level: number, client: object): number {
    return this.#turns.ahead({ level, client });
  }

  /** Opens the door: there is a place. */
  open(): void {
    if (this.#isOpening) return;
    this.#isOpening = true;
    void this.#door.schedule(async () => {
      this.#isOpening = false;
      this.#letIn();
    });
  }

  #cleanUp(waiter: Waiter): void {
    this.#deadlines.remove(waiter);
    this.#beyond.delete(waiter);
    waiter.forget();
  }
}
