import { RateLimitWaitError } from "../errors.ts";
import type { Permit } from "./permit.ts";
import { FairQueue } from "./queue.ts";
import type { AbsenceObserver, PermitStore } from "./store.ts";

/** The request of one call for its permit. */
export interface PermitRequest {
  /** 0 goes first, 9 last; default 5. */
  readonly priority?: number | undefined;
  /** Clients are served by round robin; the same object is the same client. */
  readonly client?: object | undefined;
  /** Aborted while the call waits: it rejects at once with the signal's reason, and costs nothing. */
  readonly signal?: AbortSignal | undefined;
  /** Instead of the limiter's own. */
  readonly maxWaitMs?: number | undefined;
  /** Instead of the limiter's own. */
  readonly maxQueued?: number | undefined;
  /** A call that was refused with 429 goes first when the pause ends. */
  readonly isRequeued?: boolean | undefined;
  /** Notified when a shared store is unavailable. */
  readonly observer?: AbsenceObserver | undefined;
  /** Called once, with the expected wait, when the call must wait. */
  readonly onWait?: ((waitMs: number) => void) | undefined;
}

/** A call that waits for its permit. */
interface Waiter {
  readonly level: number;
  readonly client: object;
  readonly deadlineAt: number;
  readonly maxQueued: number;
  /** It found its `maxQueued` waiting. */
  readonly isBeyond: boolean;
  /** Its position in the queue when it came, and how many calls had been dispatched by then. */
  readonly position: number;
  readonly dispatchedBefore: number;
  readonly onWait: ((waitMs: number) => void) | undefined;
  readonly resolve: (permit: Permit) => void;
  readonly reject: (reason: unknown) => void;
  /** Stops listening to the call's signal. */
  forget: () => void;
}

const defaultPriority = 5;
// In front of the ten priorities: the calls that were refused with 429.
const frontLevel = 0;
const levels = 11;
// Calls without a client share one position in the round robin.
const anonymous = {};
const tooLong = "The wait for a permit passes the call's `maxWaitMs` or `deadlineMs`.";
// While calls wait for a response to come back, a timer keeps the process alive.
const longestSleepMs = 60_000;

/** Calls that wait for permits of a store, and the timer that wakes them. */
export class Dispatcher {
  readonly #store: PermitStore;
  readonly #clock: () => number;
  readonly #queue = new FairQueue<Waiter>(levels);
  /** Calls that may not have to wait: a shared store is being asked for their permits. */
  readonly #unjudged = new Set<Waiter>();
  #dispatched = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #timerDueAt = 0;

  constructor(store: PermitStore, clock: () => number) {
    this.#store = store;
    this.#clock = clock;
  }

  /** The number of calls that wait. */
  get queued(): number {
    return this.#queue.size;
  }

  /** A permit at once if one is available and no call waits, else a promise of one. */
  acquire(request: PermitRequest): Permit | Promise<Permit> {
    if (request.signal?.aborted) return Promise.reject(request.signal.reason);
    const now = this.#clock();
    const isAvailable = this.#queue.size === 0 && this.#store.available(now) > 0;
    const permit = isAvailable ? this.#store.acquire(now) : this.#wait(request, now);
    if (request.observer) this.#store.observe?.(request.observer, permit);
    return permit;
  }

  #wait(request: PermitRequest, now: number): Promise<Permit> {
    const { client = anonymous, priority = defaultPriority, signal, isRequeued, onWait } = request;
    const { maxWaitMs = Infinity, maxQueued = Infinity } = request;
    const level = isRequeued ? frontLevel : 1 + priority;
    // A call that was refused with 429 had its position in the queue before.
    const mostBefore = isRequeued ? Infinity : maxQueued;
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        level,
        client,
        deadlineAt: now + maxWaitMs,
        maxQueued: mostBefore,
        isBeyond: this.#queue.size >= mostBefore,
        position: this.#queue.ahead({ level, client }) + 1,
        dispatchedBefore: this.#dispatched,
        onWait,
        resolve,
        reject,
        forget: () => signal?.removeEventListener("abort", abort),
      };
      const abort = (): void => this.#abort(waiter, signal?.reason);
      signal?.addEventListener("abort", abort, { once: true });
      this.#queue.add(waiter);
      this.#unjudged.add(waiter);
      this.dispatch();
    });
  }

  #abort(waiter: Waiter, reason: unknown): void {
    this.#queue.remove(waiter);
    this.#left(waiter);
    waiter.reject(reason);
    if (this.#queue.size === 0) this.dispatch();
  }

  #left(waiter: Waiter): void {
    this.#unjudged.delete(waiter);
    waiter.forget();
  }

  /** After each change: the next calls get their permits, calls that would wait in vain leave, and the timer is set. */
  dispatch(): void {
    const isIdle = this.#queue.size === 0 && this.#timer === undefined;
    if (isIdle) return;
    const now = this.#clock();
    while (this.#queue.size > 0 && this.#store.available(now) > 0) {
      const waiter = this.#queue.shift();
      this.#left(waiter);
      this.#dispatched += 1;
      waiter.resolve(this.#store.acquire(now));
    }
    const refusal = this.#store.refusal();
    if (refusal) for (const waiter of this.#queue) this.#refuse(waiter, refusal, 1, now);
    const nextMs = this.#store.nextAvailableInMs(now);
    // While a store is being asked, it is not known which calls must wait.
    if (nextMs !== undefined) this.#judge(now);
    for (const waiter of this.#queue.expire(now + (nextMs ?? 0))) this.#refuse(waiter, tooLong, 1, now);
    this.#store.demand(this.#queue.size, now);
    this.#setTimer(now, nextMs);
  }

  /** The store has no permit for these calls: a call that may not wait as long leaves at once. */
  #judge(now: number): void {
    const unjudged = [...this.#unjudged];
    this.#unjudged.clear();
    for (const waiter of unjudged.toReversed()) {
      if (!waiter.isBeyond || this.#queue.size <= waiter.maxQueued) continue;
      const others = this.#queue.size - 1;
      const why = `${others} calls wait already, and \`maxQueued\` is ${waiter.maxQueued}.`;
      this.#refuse(waiter, why, this.#queue.size, now);
    }
    for (const waiter of unjudged) {
      if (!this.#queue.has(waiter) || (!waiter.onWait && waiter.deadlineAt === Infinity)) continue;
      const position = Math.max(1, waiter.position - (this.#dispatched - waiter.dispatchedBefore));
      const leavesAt = this.#store.estimate(now).leavesAt(position);
      if (leavesAt > waiter.deadlineAt) this.#refuse(waiter, tooLong, position, now);
      else waiter.onWait?.(Math.max(0, leavesAt - now));
    }
  }

  #refuse(waiter: Waiter, why: string, position: number, now: number): void {
    this.#queue.remove(waiter);
    this.#left(waiter);
    const waitMs = Math.max(0, Math.ceil(this.#store.estimate(now).leavesAt(position) - now));
    const retryAt = new Date(Date.now() + waitMs);
    const window = this.#store.limitingWindow(position, now);
    waiter.reject(new RateLimitWaitError({ message: `Not sent. ${why}`, waitMs, retryAt, window }));
  }

  /** One timer, only while calls wait: it keeps the process alive then, and never otherwise. */
  #setTimer(now: number, nextMs = longestSleepMs): void {
    const dueAt =
      this.#queue.size > 0
        ? Math.min(now + longestSleepMs, now + nextMs, this.#queue.soonestDeadlineAt)
        : Infinity;
    if (this.#timer !== undefined && Math.abs(dueAt - this.#timerDueAt) < 1) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (dueAt === Infinity) return;
    this.#timerDueAt = dueAt;
    const ring = (): void => {
      this.#timer = undefined;
      this.dispatch();
    };
    this.#timer = setTimeout(ring, Math.max(1, Math.ceil(dueAt - now)));
  }
}
