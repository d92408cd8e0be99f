import type { RateLimiter } from "audience-sdk";

// The tests of the limiter call what its clients call, `acquire`, `refused`, `pause` and `succeeded`, which the types of the
// package leave out: through a client one test would take hours of real time.

/** What a call holds from its turn to its end. */
export type Permit = Awaited<ReturnType<RateLimiter["acquire"]>>;

/** What a call asks for. */
export type PermitRequest = NonNullable<Parameters<RateLimiter["acquire"]>[0]>;

/** Calls that have their permits and their responses at once: the permits must be available. */
export async function spend(limiter: RateLimiter, calls: number, request?: PermitRequest): Promise<void> {
  for (let call = 0; call < calls; call += 1) (await limiter.acquire(request)).release("responded");
}

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly callback: () => void;
}

// Kept before anything is replaced.
const real = { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout };
const realTimeOfDay = Date.now;
const begins = Date.UTC(2026, 0);

/**
 * Time that passes only from event to event, some ten times faster than vitest's fake timers.
 *
 * It stands in for the global timers and the time of day, so that everything under test lives in it, bottleneck too, and
 * like Node's own timers it never waits less than a millisecond. Between two events every promise that can settle has settled.
 */
export class VirtualTime {
  #now = 0;
  #order = 0;
  #heap: Timer[] = [];
  /** Those that have neither fired nor been cleared. */
  readonly #pending = new Set<number>();

  readonly now = (): number => this.#now;

  get pendingTimers(): number {
    return this.#pending.size;
  }

  at(time: number, callback: () => void): number {
    const timer = { at: Math.max(time, this.#now), order: (this.#order += 1), callback };
    this.#push(timer);
    this.#pending.add(timer.order);
    return timer.order;
  }

  after(delayMs: number, callback: () => void): number {
    return this.at(this.#now + delayMs, callback);
  }

  cancel(order: number): void {
    this.#pending.delete(order);
  }

  /** Runs a program in this time until nothing is left to happen, or `until`: by default a day, if something never ends. */
  async run(program: () => unknown, until = 86_400_000): Promise<void> {
    // The handle is a number, as in browsers; the types of Node ask for an object.
    globalThis.setTimeout = ((callback: () => void, delayMs = 0) =>
      this.after(Math.max(1, delayMs), callback)) as unknown as typeof setTimeout;
    globalThis.clearTimeout = ((order: number) => this.cancel(order)) as typeof clearTimeout;
    Date.now = () => begins + this.#now;
    try {
      program();
      await this.settle();
      while (this.#heap.length > 0 && this.#heap[0]!.at <= until) {
        const timer = this.#pop();
        if (!this.#pending.delete(timer.order)) continue;
        this.#now = timer.at;
        timer.callback();
        await this.settle();
      }
    } finally {
      Object.assign(globalThis, real);
      Date.now = realTimeOfDay;
    }
  }

  /** Resolves when all promises that can settle at this time have settled. Node runs a tick only then. */
  protected settle(): Promise<void> {
    return new Promise((resolve) => process.nextTick(resolve));
  }

  #push(timer: Timer): void {
    const heap = this.#heap;
    let slot = heap.length;
    while (slot > 0) {
      const above = (slot - 1) >> 1;
      if (!isBefore(timer, heap[above]!)) break;
      heap[slot] = heap[above]!;
      slot = above;
    }
    heap[slot] = timer;
  }

  #pop(): Timer {
    const heap = this.#heap;
    const first = heap[0]!;
    const last = heap.pop()!;
    if (heap.length === 0) return first;
    let slot = 0;
    for (;;) {
      let below = 2 * slot + 1;
      if (below >= heap.length) break;
      if (below + 1 < heap.length && isBefore(heap[below + 1]!, heap[below]!)) below += 1;
      if (!isBefore(heap[below]!, last)) break;
      heap[slot] = heap[below]!;
      slot = below;
    }
    heap[slot] = last;
    return first;
  }
}

function isBefore(a: Timer, b: Timer): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}
