import { RateLimitWaitError } from "../errors.ts";
import type { Estimate } from "./estimate.ts";
import { FairQueue } from "./queue.ts";
import type { PermitUse } from "./sliding-window-log.ts";
import type { PermitStore, StoreObserver } from "./store.ts";

/** The right to send one request. */
export interface Permit {
  /** Gives it back. The first call counts; the others then do nothing. */
  release(use: PermitUse): void;
}

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
  /** The time until the call's deadline, in milliseconds: it also limits the wait. */
  readonly deadlineInMs?: number | undefined;
  /** Instead of the limiter's own. */
  readonly maxQueued?: number | undefined;
  /** A call that was refused for its rate goes first when the pause ends. */
  readonly isRequeued?: boolean | undefined;
  /** Notified of the warning of a shared store: now, and at each change while the call waits. */
  readonly observer?: StoreObserver | undefined;
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
  readonly observer: StoreObserver | undefined;
  readonly onWait: ((waitMs: number) => void) | undefined;
  readonly resolve: (permit: Permit) => void;
  readonly reject: (reason: unknown) => void;
  /** Stops listening to the call's signal. */
  readonly forget: () => void;
}

const defaultPriority = 5;
// In front of the ten priorities: the calls that were refused for their rate.
const frontLevel = 0;
const levels = 11;
// Calls without a client share one position in the round robin.
const anonymous = {};
const tooLong = "The wait for a permit passes the call's `maxWaitMs` or `deadlineMs`.";
// While calls wait for a response to come back, a timer keeps the process alive.
const longestSleepMs = 60_000;
// An estimate takes a few steps for each waiting call, so 10,000 calls that come at once share one.
const estimateHoldsMs = 5;
// An average over about the last 50 calls: steadier than any one of them, and still following the network.
const roundTripCalls = 50;

/** Grants the permits of a store, to calls that wait in a fair queue, with the timer that wakes them. */
export class Dispatcher {
  readonly queue = new FairQueue<Waiter>(levels);
  readonly #store: PermitStore;
  readonly #clock: () => number;
  /** Calls that may not have to wait: a shared store is being asked for their permits. */
  readonly #unjudged = new Set<Waiter>();
  /** The mean time from a permit to its response. */
  #roundTripMs = 0;
  #responses = 0;
  #dispatched = 0;
  #estimate: { value: Estimate; madeAt: number } | undefined;
  #warning: string | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #timerDueAt = 0;

  constructor(store: PermitStore, clock: () => number) {
    this.#store = store;
    this.#clock = clock;
  }

  /** A permit, if one is available. */
  grant(acquiredAt: number): Permit | undefined {
    let release = this.#store.acquire(acquiredAt);
    if (!release) return undefined;
    this.#estimate = undefined;
    return {
      release: (use) => {
        if (!release) return;
        const now = this.#clock();
        if (use === "responded") {
          this.#responses += 1;
          this.#roundTripMs +=
            (now - acquiredAt - this.#roundTripMs) / Math.min(roundTripCalls, this.#responses);
        }
        release(use, now);
        release = undefined;
        this.dispatch();
      },
    };
  }

  /** A promise of a permit, once the calls before have theirs. */
  wait(request: PermitRequest, now: number): Promise<Permit> {
    const { client = anonymous, priority = defaultPriority, signal, isRequeued, observer, onWait } = request;
    const { maxWaitMs = Infinity, maxQueued = Infinity } = request;
    const level = isRequeued ? frontLevel : 1 + priority;
    // A call that was refused for its rate had its position in the queue before.
    const mostBefore = isRequeued ? Infinity : maxQueued;
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        level,
        client,
        deadlineAt: now + maxWaitMs,
        maxQueued: mostBefore,
        isBeyond: this.queue.size >= mostBefore,
        position: this.queue.ahead({ level, client }) + 1,
        dispatchedBefore: this.#dispatched,
        observer,
        onWait,
        resolve,
        reject,
        forget: () => signal?.removeEventListener("abort", abort),
      };
      const abort = (): void => {
        this.#leave(waiter);
        reject(signal?.reason);
        if (this.queue.size === 0) this.#serveQueue();
      };
      signal?.addEventListener("abort", abort, { once: true });
      this.queue.add(waiter);
      this.#unjudged.add(waiter);
      this.#serveQueue();
    });
  }

  #leave(waiter: Waiter): void {
    this.queue.remove(waiter);
    this.#unjudged.delete(waiter);
    waiter.forget();
  }

  /** After each change: the waiting calls are served. */
  dispatch(): void {
    this.#estimate = undefined;
    if (this.queue.size > 0 || this.#timer !== undefined) this.#serveQueue();
  }

  /** After a change of a shared store, which may hold permits for calls that have left. */
  storeChanged(): void {
    const warning = this.#store.warning?.();
    if (warning !== this.#warning) {
      const observers = new Set(Array.from(this.queue, ({ observer }) => observer));
      for (const observer of observers) observer?.storeWarning(warning);
    }
    this.#warning = warning;
    this.#estimate = undefined;
    this.#serveQueue();
  }

  /** The next calls get their permits, calls that would wait in vain leave, and the timer is set. */
  #serveQueue(): void {
    const now = this.#clock();
    while (this.queue.size > 0) {
      const permit = this.grant(now);
      if (!permit) break;
      const waiter = this.queue.shift();
      this.#leave(waiter);
      this.#dispatched += 1;
      waiter.resolve(permit);
    }
    const refusal = this.#store.refusal?.();
    if (refusal !== undefined) for (const waiter of this.queue) this.#refuse(waiter, refusal, 1, now);
    const nextMs = this.#store.nextAvailableInMs(now);
    // While a store is being asked, it is not known which calls must wait.
    if (nextMs !== undefined) this.#judge(now);
    for (const waiter of this.queue.expire(now + (nextMs ?? 0))) this.#refuse(waiter, tooLong, 1, now);
    this.#store.demand?.(this.queue.size, now);
    this.#setTimer(now, nextMs);
  }

  /** The store has no permit for these calls: a call that may not wait as long leaves at once. */
  #judge(now: number): void {
    for (const waiter of [...this.#unjudged].toReversed()) {
      if (!waiter.isBeyond || this.queue.size <= waiter.maxQueued) continue;
      const others = this.queue.size - 1;
      const why = `${others} calls wait already, and \`maxQueued\` is ${waiter.maxQueued}.`;
      this.#refuse(waiter, why, this.queue.size, now);
    }
    for (const waiter of this.#unjudged) {
      if (!waiter.onWait && waiter.deadlineAt === Infinity) continue;
      const position = Math.max(1, waiter.position - (this.#dispatched - waiter.dispatchedBefore));
      const leavesAt = this.estimate(now).leavesAt(position);
      if (leavesAt > waiter.deadlineAt) this.#refuse(waiter, tooLong, position, now);
      else waiter.onWait?.(Math.max(0, leavesAt - now));
    }
    this.#unjudged.clear();
  }

  #refuse(waiter: Waiter, why: string, position: number, now: number): void {
    this.#leave(waiter);
    const waitMs = Math.max(0, Math.ceil(this.estimate(now).leavesAt(position) - now));
    const retryAt = new Date(Date.now() + waitMs);
    const window = this.#store.limitingWindow(position, now);
    waiter.reject(new RateLimitWaitError({ message: `Not sent. ${why}`, waitMs, retryAt, window }));
  }

  /** When the coming calls leave and get their responses. */
  estimate(now: number): Estimate {
    if (!this.#estimate || now > this.#estimate.madeAt + estimateHoldsMs) {
      this.#estimate = { value: this.#store.estimate(now, this.#roundTripMs), madeAt: now };
    }
    return this.#estimate.value;
  }

  /** One timer, only while calls wait: it keeps the process alive then, and never otherwise. */
  #setTimer(now: number, nextMs = longestSleepMs): void {
    const dueAt =
      this.queue.size > 0
        ? Math.min(now + longestSleepMs, now + nextMs, this.queue.soonestDeadlineAt)
        : Infinity;
    if (this.#timer !== undefined && Math.abs(dueAt - this.#timerDueAt) < 1) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (dueAt === Infinity) return;
    this.#timerDueAt = dueAt;
    const ring = (): void => {
      this.#timer = undefined;
      this.#serveQueue();
    };
    this.#timer = setTimeout(ring, Math.max(1, Math.ceil(dueAt - now)));
  }
}
