import * as z from "zod";
import { ConfigurationError, type RateLimitWindow } from "../errors.ts";
import { optionTypes, parseOption, parseOptions } from "../schema/parse-options.ts";
import { AdaptiveRate } from "./adaptive-rate.ts";
import { Dispatcher } from "./dispatcher.ts";
import { defaultPriority, type Permit, type PermitRequest } from "./fair-queue.ts";
import { parseLimiterOptions, type RateLimiterOptions } from "./limiter-options.ts";
import { type RateLimiterSnapshot, restore, takeSnapshot } from "./limiter-snapshot.ts";
import { keptPermits } from "./reserve.ts";
import { SlidingWindowLog } from "./sliding-window-log.ts";
import { memoryStore, type PermitStore } from "./store.ts";

const defaultReserve = 0.1;

/**
 * One window as it stands: how much of it is used, and when a permit of it is available.
 *
 * With a `store` it holds the calls of this process, and those of the others as the store last reported them: when each of
 * these leaves is known to a sixth of the window. After a 429 fewer permits than `limit` are given for a while, which only `freeInMs` shows.
 */
export interface WindowUsage extends RateLimitWindow {
  /** Permits used, those in flight among them. */
  readonly used: number;
  /** Permits that priority 9 leaves to the other calls, those that these already use included. */
  readonly reserve: number;
  /**
   * Milliseconds until a permit is available to a call of priority 0 to 8; 0 where one is; what is in flight counts as
   * responded to now.
   */
  readonly freeInMs: number;
}

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

/** The calls of an estimate. */
export interface EstimateOptions {
  /** Default 5; the rows of `bulk` have 9. */
  readonly priority?: number | undefined;
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
 * audience.rateLimiter?.usage().windows[0]; // { limit: 10, intervalMs: 1000, used: 3, reserve: 1, freeInMs: 0 }
 *
 * // Counts by itself, within windows of your own.
 * const rateLimiter = new RateLimiter({ windows: [{ limit: 5, intervalMs: 1_000 }] });
 * const separate = new AudienceClient({ rateLimiter });
 * ```
 *
 * @throws ConfigurationError naming the option of the limiter that is wrong.
 */
export class RateLimiter {
  readonly #clock: () => number;
  readonly #rate: AdaptiveRate;
  /** The permits of this process. */
  readonly #log: SlidingWindowLog;
  readonly #store: PermitStore;
  readonly #dispatcher: Dispatcher;
  /** The share of each window that priority 9 leaves to the others; undefined: the default. */
  #reserve: number | undefined;

  constructor(options: RateLimiterOptions = {}) {
    const { windows, clock, snapshot, store, reserve, ...bounds } = parseLimiterOptions(options);
    const { maxWaitMs = Infinity, maxQueued = Infinity } = bounds;
    const restored = snapshot && restore(snapshot, clock());
    this.#reserve = reserve;
    this.#clock = clock;
    this.#rate = new AdaptiveRate(windows, restored);
    this.#log = new SlidingWindowLog(windows, restored?.permits);
    const storeUser = {
      log: this.#log,
      rate: this.#rate,
      clock,
      reserve: () => this.#reserve ?? defaultReserve,
      onChange: () => this.#dispatcher.serve(),
    };
    this.#store = store ? store.open(storeUser) : memoryStore(storeUser);
    this.#dispatcher = new Dispatcher(this.#store, storeUser, { maxWaitMs, maxQueued });
  }

  /** @internal A permit for one call, in its turn; the call has it at once if one is available and no call waits. */
  acquire(request: PermitRequest = {}): Promise<Permit> {
    return this.#dispatcher.enqueue(request);
  }

  /** @internal The queue of the calls, for what they ask it before they ask for a permit. */
  get dispatcher(): Dispatcher {
    return this.#dispatcher;
  }

  /** @internal The `reserve` that was set, not the default. */
  get ownReserve(): number | undefined {
    return this.#reserve;
  }

  /** @internal Another limiter counts from now on: the calls that wait here ask it, with what is left of their bounds. */
  moveTo(limiter: RateLimiter): void {
    for (const { deadlineAt, request, resolve, tellWait: onWait } of this.#dispatcher.leaveAll()) {
      const [maxWaitMs, position] = [
        Math.max(0, deadlineAt - this.#clock()),
        limiter.dispatcher.queue.takePosition(),
      ];
      resolve(limiter.acquire({ ...request, maxWaitMs, deadlineInMs: undefined, position, onWait }));
    }
  }

  /** @internal Sets the `reserve`. Throws a `ConfigurationError` if another one was set. */
  setReserve(reserve: number): void {
    if (this.#reserve !== undefined && this.#reserve !== reserve)
      throw new ConfigurationError(
        `reserve is one number of the limiter, and was set to ${this.#reserve}: it cannot be ${reserve} too.`,
      );
    this.#reserve = reserve;
    this.#dispatcher.serve();
  }

  /** @internal What users are told while a `store` is unavailable. */
  get storeWarning(): string | undefined {
    return this.#store.warning;
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
    this.#rate.refused(now, retryAfterMs);
    this.#store.tell("refused", now);
    this.#dispatcher.serve();
  }

  /** @internal The service asks for a pause for another reason: no request is sent in it, at most an hour. */
  pause(pauseMs: number): void {
    this.#rate.pause(this.#clock(), pauseMs);
    this.#dispatcher.serve();
  }

  /** @internal A call succeeded: the rate grows back after a 429. */
  succeeded(): void {
    if (this.#rate.factor === 1) return;
    this.#rate.succeeded();
    this.#store.tell("succeeded", this.#clock());
    this.#dispatcher.serve();
  }

  /** @internal Resolves when a `store` knows of all calls that have ended, or has failed. */
  async settled(): Promise<void> {
    await this.#store.settled();
  }

  /** The permits in use, the waiting calls, and the rest of a pause; with a `store`, as of its last reply. */
  usage(): RateLimiterUsage {
    const now = this.#clock();
    const { log, limits } = this.#store.known(now);
    const used = log.used(now);
    const freeInMs = log.availableInMs(now, limits);
    const usedByOthers = log.usedByOthers(now);
    const reserve = this.#reserve ?? defaultReserve;
    return {
      windows: log.windows.map(({ limit, intervalMs }, index) => ({
        limit,
        intervalMs,
        used: used[index]!,
        reserve: keptPermits(limits[index]!, usedByOthers[index]!, reserve),
        freeInMs: Math.ceil(freeInMs[index]!),
      })),
      queued: this.#dispatcher.queue.size,
      inFlight: this.#log.inFlight,
      pausedMs: Math.ceil(this.#rate.pausedMs(now)),
    };
  }

  /**
   * Estimates the milliseconds until the last of `calls` more calls has its response, after all before them. They
   * are more for priority 9, such as rows of `bulk`, which leaves room for the others (`reserve`); the default priority is 5.
   */
  estimateMs(calls: number, options: EstimateOptions = {}): number {
    parseOption(optionTypes.count, calls, "The number of calls of estimateMs");
    const { priority } = parseOptions(estimateOptionsSchema, options, "The options of estimateMs");
    return Math.round(this.#dispatcher.forecasts.estimateMs(calls, priority));
  }

  /**
   * The count as plain JSON. Given as `snapshot` to a new limiter it carries the count over a restart.
   *
   * ```ts
   * await writeFile("rate-limit.json", JSON.stringify(rateLimiter.snapshot()));
   * ```
   */
  snapshot(): RateLimiterSnapshot {
    return takeSnapshot(this.#log, this.#rate, this.#clock());
  }
}

const estimateOptionsSchema = z.strictObject({
  priority: optionTypes.priority.default(defaultPriority),
}) satisfies z.ZodType<unknown, EstimateOptions>;
