import * as z from "zod";
import { readRateLimit, sayRateLimit } from "../environment.ts";
import { ConfigurationError } from "../errors.ts";
import type { RateLimitWindow } from "../errors.ts";
import { DOCUMENTED_WINDOWS } from "../limits.ts";
import { numberThat, optionThat, optionTypes, parseOptions } from "../schema/parse-options.ts";
import { hasMethods, withoutPrototype } from "../values/predicates.ts";
import { type RateLimiterSnapshot, limiterSnapshotSchema } from "./limiter-snapshot.ts";
import type { RateLimitStore } from "./store.ts";

/** Options of a `RateLimiter`; each may be left out. */
export interface RateLimiterOptions {
  /** The windows, by default the documented ones: 10 per second, 100 per minute, 1,000 per hour. `usage()` shows the shortest first. */
  readonly windows?: readonly RateLimitWindow[] | undefined;
  /**
   * The share of each window that calls of priority 9, such as the rows of `bulk`, leave to the other calls, from 0 to 0.9.
   * They leave more where the others used more within the last of the window. Default: 0.1. With 0 they leave nothing. A second
   * client that gives the default limiter another one is refused.
   */
  readonly reserve?: number | undefined;
  /** A call that would wait longer for its permit is refused, with a `RateLimitWaitError`. Default: none. */
  readonly maxWaitMs?: number | undefined;
  /**
   * A call that finds this many waiting, of its priority or a higher one, is refused at once; while a `store` is asked, once it
   * has said that there is no permit for them, the latest first. Default: none.
   */
  readonly maxQueued?: number | undefined;
  /** Counts for several processes behind one IP, as `redisRateLimitStore` of `audience-sdk/redis`. */
  readonly store?: RateLimitStore | undefined;
  /** The result of `limiter.snapshot()` before a restart. */
  readonly snapshot?: RateLimiterSnapshot | undefined;
  /** Milliseconds that never run back. Default: `performance.now()`. */
  readonly clock?: (() => number) | undefined;
}

/** The options with which a client keeps the limiter that it has. `maxWaitMs` and `maxQueued` hold for its own calls. */
export type KeepingOptions = Pick<RateLimiterOptions, "maxWaitMs" | "maxQueued" | "reserve">;

const windowSchema = z.object({
  limit: optionTypes.positiveCount,
  intervalMs: numberThat("a number of milliseconds above 0", (value) => value > 0 && value < Infinity),
});

/** A rate limit store is known by `leaseMs`: a checkpoint has an `open`, too. */
const isStore = (value: unknown): boolean => hasMethods(value, "open") && "leaseMs" in value;

export const limiterOptionsSchema = z
  .strictObject({
    windows: z.array(windowSchema).min(1),
    reserve: numberThat("a number from 0 to 0.9", (value) => value >= 0 && value <= 0.9),
    maxWaitMs: optionTypes.waitMs,
    maxQueued: optionTypes.countOrAll,
    store: optionThat<RateLimitStore>("a rate limit store, as `redisRateLimitStore(redis)` gives", isStore),
    snapshot: limiterSnapshotSchema,
    clock: optionThat<() => number>(
      "a function that returns milliseconds, as `() => performance.now()`",
      (value) => typeof value === "function" && Number.isFinite(Reflect.apply(value, undefined, [])),
    ),
  })
  .partial();

export function parseLimiterOptions(options: RateLimiterOptions) {
  if (isStore(options))
    throw new ConfigurationError("A rate limit store is one of the options: write `rateLimiter: { store }`.");
  const {
    windows = DOCUMENTED_WINDOWS,
    clock = () => performance.now(),
    ...otherOptions
  } = parseOptions(limiterOptionsSchema, options, "The options of RateLimiter");
  // The options get no prototype, from which they could inherit.
  return withoutPrototype({ ...otherOptions, windows: windowsInForce(windows), clock: monotonic(clock) });
}

/** The shortest window first. `AUDIENCE_RATE_LIMIT=60x` makes the documented ones shorter for a rehearsal; `off` changes none. */
function windowsInForce(windowsOption: readonly RateLimitWindow[]): readonly RateLimitWindow[] {
  const windows = windowsOption.toSorted((a, b) => a.intervalMs - b.intervalMs);
  // The schema gives its keys in one order.
  const isDocumented = JSON.stringify(windows) === JSON.stringify(DOCUMENTED_WINDOWS);
  const speed = isDocumented ? readRateLimit() : 1;
  if (speed === 1 || speed === Infinity) return windows;
  sayRateLimit(
    `${speed}x makes the windows of the rate limit ${speed} times shorter. This is for a rehearsal against a mock with \`--speed ${speed}\`: the service itself would refuse such calls.`,
  );
  return windows.map(({ limit, intervalMs }) => ({ limit, intervalMs: intervalMs / speed }));
}

/** A clock that never runs back: where the given one is set back, or replaced by fake timers, no time has passed. */
function monotonic(clock: () => number): () => number {
  let lastRead = -Infinity;
  let aheadMs = 0;
  return () => {
    const now = clock();
    if (now < lastRead) aheadMs += lastRead - now;
    lastRead = now;
    return now + aheadMs;
  };
}
