import { RateLimitWaitError } from "../errors.ts";
import { onAbort, type Abortable } from "../on-abort.ts";
import { optionTypes, parseOption } from "../schema/option.ts";
import { Alarm } from "./alarm.ts";
import { LocalPlaces } from "./local-places.ts";
import { monotonic } from "./monotonic.ts";
import {
  openStore,
  readLimiterOptions,
  type RateLimiterOptions,
  type RateLimiterSettings,
} from "./options.ts";
import type { Permit } from "./permit.ts";
import type { AbsenceObserver, Places, WindowUsage } from "./places.ts";
import { SlowDown } from "./slow-down.ts";
import { restore, takeSnapshot, type RateLimiterSnapshot } from "./snapshot.ts";
import { firstOfAll, WaitingLine, type Waiter } from "./waiting-line.ts";
import { Windows } from "./windows.ts";

export type { Permit } from "./permit.ts";

/** How one call asks for its place. */
export interface PermitRequest {
  /** 0 goes first, 9 last; default 5. */
  readonly priority?: number | undefined;
  /** The clients take turns; the same object is the same client. */
  readonly client?: object | undefined;
  /** Aborted while the call waits: it rejects at once with the signal's reason, and costs nothing. */
  readonly signal?: Abortable | undefined;
  /** Instead of the limiter's own. */
  readonly maxWaitMs?: number | undefined;
  /** Instead of the limiter's own. */
  readonly maxQueued?: number | undefined;
  /** A call that was refused with 429: first of all when the pause ends. */
  readonly isRequeued?: boolean | undefined;
  /** Told where a shared store is away. */
  readonly observer?: AbsenceObserver | undefined;
  /** Called once, with the expected wait, when the call must wait. */
  readonly onWait?: ((waitMs: number) => void) | undefined;
}

/** How a limiter stands. */
export interface RateLimiterUsage {
  /** Of each window its documented limit, how many of its places are taken, and when one comes free (0: now). */
  readonly windows: WindowUsage[];
  /** Calls that wait for a place. */
  readonly queued: number;
  /** Calls that were sent and have no answer yet. */
  readonly inFlight: number;
  /** What is left of the pause after a 429. */
  readonly pausedMs: number;
}

const defaultPriority = 5;
// Calls of a client that has no name take turns as one.
const anonymous = {};
const forgetNothing = (): void => {};
// While somebody waits for an answer to come back, a timer keeps the process alive.
const longestSleepMs = 60_000;

/**
 * Keeps calls within the service's rate limit, as the service counts them ("Limits").
 *
 * By default every client of a process shares one; a limiter of one's own splits a client off, which only makes sense
 * behind an IP of its own, as the service counts per IP. A place comes back one window after its answer.
 *
 * ```ts
 * const rateLimiter = new RateLimiter({ maxWaitMs: 5_000 });
 * const audience = new AudienceClient({ rateLimiter });
 * rateLimiter.usage().windows[0]; // { limit: 10, intervalMs: 1000, used: 3, freeInMs: 0 }
 * ```
 *
 * @throws ConfigurationError naming the option that is wrong.
 */
export class RateLimiter {
  readonly #settings: RateLimiterSettings;
  readonly #clock: () => number;
  readonly #slowDown: SlowDown;
  readonly #places: Places;
  readonly #line = new WaitingLine(() => this.#letIn());
  readonly #alarm = new Alarm(() => this.#settle());

  constructor(options: RateLimiterOptions = {}) {
    this.#settings = readLimiterOptions(options);
    const { windows, snapshot, store } = this.#settings;
    const clock = monotonic(this.#settings.clock);
    const restored = snapshot && restore(snapshot, { now: clock(), timeOfDay: Date.now() });
    const slowDown = new SlowDown(restored);
    const shared = { slowDown, clock, onChange: () => this.#settle() };
    const entries = restored?.entries ?? [];
    const answeredAt = entries.map(([, at]) => at);
    this.#clock = clock;
    this.#slowDown = slowDown;
    this.#places = store
      ? openStore(store, { ...shared, windows, restored: entries })
      : new LocalPlaces({ ...shared, windows: new Windows(windows, answeredAt) });
  }

  /**
   * A place for one call: at once where one is free and nobody waits before it, else a promise of one.
   *
   * @internal
   */
  acquire(request: PermitRequest = {}): Permit | Promise<Permit> {
    if (request.signal?.aborted) return Promise.reject(request.signal.reason);
    const now = this.#clock();
    const isFree = this.#line.size === 0 && this.#places.free(now) > 0;
    const place = isFree ? this.#places.take(now) : this.#wait(request, now);
    if (request.observer) this.#places.tellOfAbsence?.(request.observer, place);
    return place;
  }

  /**
   * Whether nobody may be sent for now, also with a place from before.
   *
   * @internal
   */
  get isPaused(): boolean {
    return this.#slowDown.pausedMs(this.#clock()) > 0;
  }

  /**
   * A 429 came: nobody goes before `retryAfterMs` are over (1 s where the service does not say, at most an hour), and
   * then at half the pace.
   *
   * @internal
   */
  refused(retryAfterMs?: number): void {
    this.#places.refused(this.#clock(), retryAfterMs);
  }

  /**
   * An answer that is no 429: full pace comes back with each.
   *
   * @internal
   */
  succeeded(): void {
    this.#places.succeeded();
  }

  /**
   * How many places are taken, who waits, and for how long the limiter is paused.
   *
   * With a `store`, what this process knows of it: other processes may have taken a place or given one back since the
   * store last answered.
   */
  usage(): RateLimiterUsage {
    const now = this.#clock();
    return {
      windows: this.#places.windows(now),
      queued: this.#line.size,
      inFlight: this.#places.inFlight,
      pausedMs: Math.ceil(this.#slowDown.pausedMs(now)),
    };
  }

  /** How long `calls` more calls take until the last is answered, after all that wait already, in milliseconds. */
  estimateMs(calls: number): number {
    parseOption(optionTypes.count, calls, "The number of calls of estimateMs");
    const place = this.#line.size + calls;
    if (place === 0) return 0;
    const now = this.#clock();
    return Math.max(0, Math.round(this.#places.forecast(now).answeredAt(place) - now));
  }

  /**
   * The count as plain JSON. Given as `snapshot` to a new limiter it carries the count over a restart.
   *
   * ```ts
   * await writeFile("rate-limit.json", JSON.stringify(rateLimiter.snapshot()));
   * ```
   */
  snapshot(): RateLimiterSnapshot {
    const now = this.#clock();
    const { share } = this.#slowDown;
    const pausedUntil = now + this.#slowDown.pausedMs(now);
    return takeSnapshot(
      { entries: this.#places.entries(now), share, pausedUntil },
      { now, timeOfDay: Date.now() },
    );
  }

  #wait(request: PermitRequest, now: number): Promise<Permit> {
    return new Promise((resolve, reject) => {
      const { client = anonymous, priority = defaultPriority, signal, isRequeued } = request;
      const level = isRequeued ? firstOfAll : 1 + priority;
      const { maxWaitMs = this.#settings.maxWaitMs, maxQueued = this.#settings.maxQueued } = request;
      const refusal = this.#places.refusal(now);
      if (refusal) throw this.#waitError(refusal, 1, now);
      // What was refused with 429 had its place in the queue before.
      const mostBefore = isRequeued ? Infinity : maxQueued;
      // While a store is being asked, nobody knows yet who must wait.
      if (this.#line.size >= mostBefore && this.#places.etaMs(now) !== undefined) {
        throw this.#queueFull(mostBefore, now);
      }
      if (request.onWait || maxWaitMs < Infinity) {
        const place = this.#line.ahead(level, client) + 1;
        const waitMs = this.#waitMs(place, now);
        if (waitMs > maxWaitMs) throw this.#tooLong(place, now);
        request.onWait?.(waitMs);
      }
      const deadlineAt = now + maxWaitMs;
      this.#join(
        {
          level,
          client,
          deadlineAt,
          maxQueued: mostBefore,
          forget: forgetNothing,
          resolve,
          reject,
        },
        signal,
      );
    });
  }

  // Apart from the checks, so that what waits holds on to nothing but itself.
  #join(waiter: Waiter, signal: Abortable | undefined): void {
    this.#line.join(waiter);
    if (signal) waiter.forget = onAbort(signal, () => this.#leave(waiter, signal.reason));
    this.#settle();
  }

  #leave(waiter: Waiter, reason: unknown): void {
    if (!this.#line.leave(waiter)) return;
    waiter.reject(reason);
    if (this.#line.size === 0) this.#settle();
  }

  /** After each change: who can no longer make it leaves, the door opens where there is a place, the alarm is set. */
  #settle(): void {
    const now = this.#clock();
    this.#places.want(this.#line.size, now);
    if (this.#line.size > 0) this.#moveOn(now);
    if (this.#line.size === 0) this.#alarm.clear();
  }

  #moveOn(now: number): void {
    const refusal = this.#places.refusal(now);
    if (refusal) for (const { reject } of this.#line.leaveAll()) reject(this.#waitError(refusal, 1, now));
    else if (this.#places.free(now) > 0) this.#line.open();
    else this.#sleep(this.#places.etaMs(now), now);
  }

  #sleep(etaMs: number | undefined, now: number): void {
    // Where a store is being asked, a place may be there with its answer.
    for (const { reject } of this.#line.leaveBefore(now + (etaMs ?? 0))) reject(this.#tooLong(1, now));
    if (etaMs !== undefined) {
      for (const { reject, maxQueued } of this.#line.leaveBeyond()) reject(this.#queueFull(maxQueued, now));
    }
    const untilDeadlineMs = this.#line.nextDeadlineAt - now;
    this.#alarm.set(Math.min(longestSleepMs, etaMs ?? longestSleepMs, untilDeadlineMs), now);
  }

  /** The door is open: in goes who is next, while there are places. */
  #letIn(): void {
    const now = this.#clock();
    while (this.#line.size > 0 && this.#places.free(now) > 0) {
      this.#line.next()?.resolve(this.#places.take(now));
    }
    this.#settle();
  }

  #waitMs(place: number, now: number): number {
    return Math.max(0, this.#places.forecast(now).leavesAt(place) - now);
  }

  #queueFull(maxQueued: number, now: number): RateLimitWaitError {
    const { size } = this.#line;
    const message = `${size} calls wait already, and \`maxQueued\` is ${maxQueued}.`;
    return this.#waitError(message, size + 1, now);
  }

  #tooLong(place: number, now: number): RateLimitWaitError {
    return this.#waitError("The wait for a place passes the call's `maxWaitMs` or `deadlineMs`.", place, now);
  }

  #waitError(message: string, place: number, now: number): RateLimitWaitError {
    const waitMs = Math.ceil(this.#waitMs(place, now));
    const retryAt = new Date(Date.now() + waitMs);
    const window = this.#places.heldBackBy(place, now);
    return new RateLimitWaitError({ message: `Not sent. ${message}`, waitMs, retryAt, window });
  }
}
