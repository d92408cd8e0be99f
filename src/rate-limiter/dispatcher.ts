import { RateLimitWaitError } from "../errors.ts";
import { FairQueue } from "./queue.ts";
import type { PermitUse } from "./sliding-window-log.ts";
import type { PermitStore } from "./store.ts";

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
  readonly maxWaitMs?: number | undefined;
  /** The time until the call's deadline, in milliseconds: it also limits the wait. */
  readonly deadlineInMs?: number | undefined;
  readonly maxQueued?: number | undefined;
  /** From `takePlace`, if the call has waited for another one since: it goes before all that came after it. */
  readonly place?: number | undefined;
  /** A call that was refused for its rate goes first when the pause ends. */
  readonly isRequeued?: boolean | undefined;
  /** Notified of the warning of a shared store, or its end: now, and at each change while the call waits. */
  readonly observer?: { storeWarning(warning: string | undefined): void } | undefined;
  /** Called once, with the expected wait, when the call must wait. */
  readonly onWait?: ((waitMs: number) => void) | undefined;
}

interface Waiter extends Pick<PermitRequest, "observer" | "onWait"> {
  readonly level: number;
  readonly place: number;
  readonly client: object;
  readonly deadlineAt: number;
  /** Its `maxQueued` if it found so many waiting, else Infinity. */
  readonly maxQueued: number;
  readonly resolve: (permit: Permit) => void;
  readonly reject: (reason: unknown) => void;
  readonly forget: () => void;
}

const defaultPriority = 5;
// In front of the ten priorities: the calls that were refused for their rate.
const frontLevel = 0;
const levels = 11;
// Calls without a client share one position in the round robin.
const anonymous = {};
// The timer is set again at least this often: one of more than 24 days would fire at once.
const longestSleepMs = 60_000;
// A store that takes longer is no better than a wait.
const storeReplyMs = 100;
// An average over about the last 50 calls: steadier than any one of them, and still following the network.
const roundTripCalls = 50;

/** Grants the permits of a store, to calls that wait in a fair queue, with the timer that wakes them. */
export class Dispatcher {
  readonly queue = new FairQueue<Waiter>(levels);
  readonly #store: PermitStore;
  readonly #clock: () => number;
  /** Calls that have just come: a shared store may have to be asked before it is known whether they must wait. */
  readonly #newcomers = new Set<Waiter>();
  readonly #withDeadline = new Set<Waiter>();
  /** The mean time from a permit to its response. */
  #roundTripMs = 0;
  #responses = 0;
  #places = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(store: PermitStore, clock: () => number) {
    this.#store = store;
    this.#clock = clock;
  }

  /** The place in the queue of a call that is made now. */
  takePlace(): number {
    return ++this.#places;
  }

  grant(acquiredAt: number): Permit | undefined {
    let release = this.#store.acquire(acquiredAt);
    if (!release) return undefined;
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
    const { maxWaitMs: givenMs = Infinity } = request;
    // The reply of a shared store is no wait for the limit.
    const maxWaitMs = Math.max(givenMs, this.#store.demand ? storeReplyMs : 0);
    // A call that was refused for its rate, or has waited elsewhere, had its position in the queue before.
    const hadPosition = isRequeued || request.place !== undefined;
    const maxQueued = hadPosition ? Infinity : (request.maxQueued ?? Infinity);
    const level = isRequeued ? frontLevel : 1 + priority;
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        level,
        place: request.place ?? this.takePlace(),
        client,
        deadlineAt: now + maxWaitMs,
        // Calls of a lower priority go after it.
        maxQueued: this.queue.sizeUpTo(level) >= maxQueued ? maxQueued : Infinity,
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
      this.#newcomers.add(waiter);
      if (waiter.deadlineAt < Infinity) this.#withDeadline.add(waiter);
      this.#serveQueue();
    });
  }

  #leave(waiter: Waiter): void {
    this.queue.remove(waiter);
    this.#newcomers.delete(waiter);
    this.#withDeadline.delete(waiter);
    waiter.forget();
  }

  dispatch(): void {
    if (this.queue.size > 0) this.#serveQueue();
  }

  /** After a change of a shared store, which may hold permits for calls that have left. */
  storeChanged(): void {
    const warning = this.#store.warning?.();
    for (const { observer } of this.queue.all()) observer?.storeWarning(warning);
    this.#serveQueue();
  }

  #serveQueue(): void {
    const now = this.#clock();
    // 1. The next calls get the available permits.
    while (this.queue.size > 0) {
      const permit = this.grant(now);
      if (!permit) break;
      const waiter = this.queue.next();
      this.#leave(waiter);
      waiter.resolve(permit);
    }
    // 2. A store that gives no permits for now refuses the other calls.
    const refusal = this.#store.refusal?.();
    if (refusal !== undefined) for (const waiter of this.queue.all()) this.#refuse(waiter, 1, now, refusal);
    // 3. The newcomers learn that they must wait, unless the store is still being asked.
    const nextMs = this.#store.nextAvailableInMs(now);
    if (nextMs !== undefined) this.#tellNewcomers(now);
    // 4. The calls leave that cannot wait for the next permit.
    let wakeAt = now + Math.min(nextMs ?? longestSleepMs, longestSleepMs);
    for (const waiter of this.#withDeadline) {
      if (waiter.deadlineAt < now + (nextMs ?? 0)) this.#refuse(waiter, 1, now);
      else wakeAt = Math.min(wakeAt, waiter.deadlineAt);
    }
    // 5. A shared store is asked for permits for the others.
    this.#store.demand?.(this.queue.size, now);
    // 6. A timer serves them again: it keeps the process alive, and only while calls wait.
    clearTimeout(this.#timer);
    if (this.queue.size === 0) return;
    this.#timer = setTimeout(() => this.#serveQueue(), Math.max(1, Math.ceil(wakeAt - now)));
  }

  /** The store has no permit for these calls: those that may not wait as long leave at once, the others are told. */
  #tellNewcomers(now: number): void {
    for (const waiter of [...this.#newcomers].toReversed()) {
      const waiting = this.queue.sizeUpTo(waiter.level);
      if (waiting <= waiter.maxQueued) continue;
      const why = `The queue is full: \`maxQueued\` is ${waiter.maxQueued}.`;
      this.#refuse(waiter, waiting, now, why);
    }
    for (const waiter of this.#newcomers) {
      if (!waiter.onWait && waiter.deadlineAt === Infinity) continue;
      const position = this.queue.position(waiter);
      const waitMs = this.#waitMs(position, now);
      if (now + waitMs > waiter.deadlineAt) this.#refuse(waiter, position, now);
      else waiter.onWait?.(waitMs);
    }
    this.#newcomers.clear();
  }

  #refuse(waiter: Waiter, position: number, now: number, reason?: string): void {
    this.#leave(waiter);
    const waitMs = Math.ceil(this.#waitMs(position, now));
    const why =
      reason ??
      `The wait of ${waitMs} ms is longer than \`maxWaitMs\`, of the call or its client, or \`deadlineMs\` allows.`;
    const retryAt = new Date(Date.now() + waitMs);
    const { log, limitsAt } = this.#store.known(now);
    const window = log.limitingWindow(position, now, limitsAt(now));
    waiter.reject(new RateLimitWaitError({ message: `No permit. ${why}`, waitMs, retryAt, window }));
  }

  /** The expected time until the call at `position` leaves. */
  #waitMs(position: number, now: number): number {
    return Math.max(0, this.respondedInMs(position, now) - this.#roundTripMs);
  }

  /** The expected time until the call at `position` (1 is the next) gets its response. */
  respondedInMs(position: number, now: number): number {
    const { log, limitsAt, startAt } = this.#store.known(now);
    // Of the start: a process without its store may have none at present.
    const expected = { limits: limitsAt(startAt), roundTripMs: this.#roundTripMs, startAt };
    return log.respondedAt(position, now, expected) - now;
  }
}
