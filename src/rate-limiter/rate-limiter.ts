import { optionTypes, parseOption, parseOptions } from "../schema/parse-options.ts";
import { AdaptiveRate } from "./adaptive-rate.ts";
import { Dispatcher, type Permit, type PermitRequest } from "./dispatcher.ts";
import { type RateLimiterOptions, limiterOptionsSchema } from "./limiter-options.ts";
import type { WindowUsage } from "./sliding-window-log.ts";
import { type RateLimiterSnapshot, restore, takeSnapshot } from "./snapshot.ts";
import { memoryStore, type PermitStore } from "./store.ts";

export type { Permit } from "./dispatcher.ts";

/** The state of a limiter. */
export interface RateLimiterUsage {
  /** For each window its limit, the number of permits in use, and the time until one is available (0: now). */
  readonly windows: WindowUsage[];
  /** Calls that wait for a permit. */
  readonly queued: number;
  /** Calls that were sent and have no response yet. */
  readonly inFlight: number;
  /** The rest of the pause after a 429, in milliseconds. */
  readonly pausedMs: number;
}

/**
 * Keeps calls within the service's rate limit, as the service counts them ("Limits").
 *
 * By default every client of a process shares one; a limiter of one's own splits a client off, which only makes sense
 * behind an IP of its own, as the service counts per IP. A permit comes back one window after its response.
 *
 * ```ts
 * // Bounds the waits of this client, and keeps the shared limiter.
 * const audience = new AudienceClient({ rateLimiter: { maxWaitMs: 5_000 } });
 * audience.rateLimiter?.usage().windows[0]; // { limit: 10, intervalMs: 1000, used: 3, freeInMs: 0 }
 *
 * // Counts by itself, within windows of your own.
 * const rateLimiter = new RateLimiter({ windows: [{ limit: 5, intervalMs: 1_000 }] });
 * const separate = new AudienceClient({ rateLimiter });
 * ```
 *
 * @throws ConfigurationError naming the option that is wrong.
 */
export class RateLimiter {
  readonly #bounds: Pick<RateLimiterOptions, "maxWaitMs" | "maxQueued">;
  readonly #clock: () => number;
  readonly #rate: AdaptiveRate;
  readonly #store: PermitStore;
  readonly #dispatcher: Dispatcher;

  constructor(options: RateLimiterOptions = {}) {
    const given = parseOptions(limiterOptionsSchema, options, "The options of RateLimiter");
    const { windows, snapshot, store, clock: givenClock, ...bounds } = given;
    const clock = monotonic(givenClock);
    const restored = snapshot && restore(snapshot, clock());
    this.#bounds = bounds;
    this.#clock = clock;
    this.#rate = new AdaptiveRate(windows, restored);
    const user = {
      windows,
      restored: restored?.entries ?? [],
      rate: this.#rate,
      clock,
      onChange: () => this.#dispatcher.storeChanged(),
    };
    this.#store = store ? store.open(user) : memoryStore(user);
    this.#dispatcher = new Dispatcher(this.#store, clock);
  }

  /** @internal A permit for one call: at once if one is available and no call waits, else a promise of one. */
  acquire(request: PermitRequest = {}): Permit | Promise<Permit> {
    if (request.signal?.aborted) return Promise.reject(request.signal.reason);
    const now = this.#clock();
    if (this.#store.warning) request.observer?.storeWarning(this.#store.warning());
    const permit = this.#dispatcher.queue.size === 0 && this.#dispatcher.grant(now);
    if (permit) return permit;
    const { deadlineInMs = Infinity, maxQueued = this.#bounds.maxQueued } = request;
    const maxWaitMs = Math.min(request.maxWaitMs ?? this.#bounds.maxWaitMs ?? Infinity, deadlineInMs);
    return this.#dispatcher.wait({ ...request, maxWaitMs, maxQueued }, now);
  }

  /** @internal The place in the queue of a call that waits for another call first: for `acquire`. */
  takePlace(): number {
    return this.#dispatcher.takePlace();
  }

  /** @internal Whether no request may be sent for now, not even with a permit from before. */
  get isPaused(): boolean {
    return this.#rate.pausedMs(this.#clock()) > 0;
  }

  /**
   * @internal A call was refused for its rate: no request is sent for `retryAfterMs` (1 s if the service names no wait, at
   * most an hour), and then they are sent at half the rate.
   */
  refused(retryAfterMs?: number): void {
    const now = this.#clock();
    if (this.#rate.refused(now, retryAfterMs)) this.#store.refused?.(now);
    this.#dispatcher.dispatch();
  }

  /** @internal The service asks to wait for another reason: for so long, at most an hour, no request is sent. */
  pause(waitMs: number): void {
    this.#rate.pause(this.#clock(), waitMs);
    this.#dispatcher.dispatch();
  }

  /** @internal The full rate comes back with each success. */
  succeeded(): void {
    if (this.#rate.factor === 1) return;
    this.#rate.succeeded();
    this.#store.succeeded?.();
    this.#dispatcher.dispatch();
  }

  /** @internal Resolves when a `store` knows of all calls that have ended, or has failed. */
  async settled(): Promise<void> {
    await this.#store.settled?.();
  }

  /** The permits in use, the waiting calls, and the rest of a pause; with a `store`, as of its last reply. */
  usage(): RateLimiterUsage {
    const now = this.#clock();
    return {
      windows: this.#store.usage(now),
      queued: this.#dispatcher.queue.size,
      inFlight: this.#store.inFlight,
      pausedMs: Math.ceil(this.#rate.pausedMs(now)),
    };
  }

  /** The time until the last of `calls` more calls has its response, after all that wait already, in milliseconds. */
  estimateMs(calls: number): number {
    parseOption(optionTypes.count, calls, "The number of calls of estimateMs");
    const position = this.#dispatcher.queue.size + calls;
    if (position === 0) return 0;
    return Math.round(this.#dispatcher.respondedInMs(position, this.#clock()));
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
    return takeSnapshot(this.#store.entries(now), this.#rate, now);
  }
}

/** A clock that never runs back: where the given one is set back, or replaced by fake timers, no time has passed. */
function monotonic(clock: () => number): () => number {
  let last = -Infinity;
  let aheadMs = 0;
  return () => {
    const read = clock();
    if (read < last) aheadMs += last - read;
    last = read;
    return read + aheadMs;
  };
}
