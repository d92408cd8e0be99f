import * as z from "zod";
import type { RateLimitWindow } from "../errors.ts";
import { DOCUMENTED_WINDOWS } from "../limits.ts";
import { numberThat, optionThat, optionTypes } from "../schema/parse-options.ts";
import { hasMethods } from "../schema/predicates.ts";
import { type RateLimiterSnapshot, snapshotSchema } from "./snapshot.ts";
import type { RateLimitStore } from "./store.ts";

/** Options of a `RateLimiter`; each may be left out. */
export interface RateLimiterOptions {
  /** The windows to keep, by default the documented ones: 10 per second, 100 per minute, 1,000 per hour ("Limits"). */
  readonly windows?: readonly RateLimitWindow[] | undefined;
  /** A call that would wait longer for its permit is refused, with a `RateLimitWaitError`. Default: none. */
  readonly maxWaitMs?: number | undefined;
  /**
   * A call that finds this many waiting, of its priority or a higher one, is refused; with a `store` once it has said that
   * there is no permit for them, the latest first. Default: none.
   */
  readonly maxQueued?: number | undefined;
  /** Counts for several processes behind one IP, as `redisRateLimitStore` of `audience-sdk/redis`. */
  readonly store?: RateLimitStore | undefined;
  /** The result of `limiter.snapshot()` before a restart. */
  readonly snapshot?: RateLimiterSnapshot | undefined;
  /** Milliseconds that never run back. Default: `performance.now()`. */
  readonly clock?: (() => number) | undefined;
}

const windowSchema = z
  .object({
    limit: optionTypes.positiveCount,
    intervalMs: numberThat("a number of milliseconds above 0", (value) => value > 0 && value < Infinity),
  })
  // Frozen, as errors show them; zod's `readonly` would freeze a wrong value of the caller too.
  .transform((window) => Object.freeze(window));

const storeOption = optionThat<RateLimitStore>(
  "a rate limit store, as `redisRateLimitStore(redis)` gives",
  // A checkpoint has an `open`, too.
  (value) => hasMethods(value, "open") && "leaseMs" in value,
);

export const limiterOptionsSchema = z.strictObject({
  windows: z
    .array(windowSchema)
    .min(1)
    .default(() => [...DOCUMENTED_WINDOWS]),
  maxWaitMs: optionTypes.waitMs.optional(),
  maxQueued: optionTypes.countOrAll.optional(),
  store: storeOption.optional(),
  snapshot: snapshotSchema.optional(),
  clock: optionThat<() => number>(
    "a function that returns milliseconds, as `() => performance.now()`",
    (value) => typeof value === "function" && Number.isFinite(Reflect.apply(value, undefined, [])),
  ).default(() => () => performance.now()),
});
