import type { RateLimitWindow } from "../errors.ts";
import { hearOut } from "../hear-out.ts";
import { DOCUMENTED_WINDOWS } from "../limits.ts";
import { readSnapshot, type RateLimiterSnapshot } from "./snapshot.ts";
import { hasMethods } from "../is-object.ts";
import type { Places } from "./places.ts";
import type { RateLimitStore, StoreUser } from "./store.ts";
import { rules } from "../option-rules.ts";
import { checkOption, readGuarded, readOptions, type OptionRule } from "../option-checks.ts";

/** Options of a `RateLimiter`; each may be left out. */
export interface RateLimiterOptions {
  /** The windows to keep, by default the documented ones: 10 per second, 100 per minute, 1,000 per hour ("Limits"). */
  readonly windows?: readonly RateLimitWindow[] | undefined;
  /** A call that would wait longer for its place is refused, with a `RateLimitWaitError`. Default: none. */
  readonly maxWaitMs?: number | undefined;
  /**
   * A call that finds this many waiting is refused; with a `store` once it has said that there is no place for them, the
   * latest first. Default: none.
   */
  readonly maxQueued?: number | undefined;
  /** Counts for several processes behind one IP, as `redisRateLimitStore` of `audience-sdk/redis`. */
  readonly store?: RateLimitStore | undefined;
  /** What `limiter.snapshot()` gave before a restart. */
  readonly snapshot?: RateLimiterSnapshot | undefined;
  /** Milliseconds that never run back. Default: `performance.now()`. */
  readonly clock?: (() => number) | undefined;
}

/** The options, checked and complete. */
export interface RateLimiterSettings {
  readonly windows: readonly RateLimitWindow[];
  readonly maxWaitMs: number;
  readonly maxQueued: number;
  readonly store: RateLimitStore | undefined;
  readonly snapshot: RateLimiterSnapshot | undefined;
  readonly clock: () => number;
}

const allowed: Record<keyof RateLimiterOptions, OptionRule> = {
  windows: { holds: isFilledList, words: "a list of at least one { limit, intervalMs }" },
  maxWaitMs: rules.waitMs,
  maxQueued: rules.countOrAll,
  // Only what the package makes has the method.
  store: {
    holds: (value) => hasMethods(value, "open"),
    words: "a rate limit store, as `redisRateLimitStore(redis)` gives",
  },
  // What is wrong in one is said by the field.
  snapshot: { holds: () => true, words: "" },
  clock: { holds: isClock, words: "a function that gives milliseconds, as `() => performance.now()`" },
};

/** Checks the options; a bad one is a `ConfigurationError` that names it. */
export function readLimiterOptions(options: unknown): RateLimiterSettings {
  return readGuarded("RateLimiter: an option", () => {
    // The rules have found each value to be what RateLimiterOptions says, but for the two that are read below.
    const given: RateLimiterOptions = readOptions(options, allowed, "The options of RateLimiter");
    const { maxWaitMs = Infinity, maxQueued = Infinity, store, snapshot } = given;
    return {
      // Not `map`, which would pass over holes, however many.
      windows: Array.from(given.windows ?? DOCUMENTED_WINDOWS, readWindow),
      maxWaitMs,
      maxQueued,
      store,
      snapshot: snapshot === undefined ? undefined : readSnapshot(snapshot),
      clock: given.clock ?? (() => performance.now()),
    };
  });
}

/** The places of a store. What only looks like one gives none, and is refused as any other option is. */
export function openStore(store: RateLimitStore, user: StoreUser): Places {
  return readGuarded("store", () => {
    const places: Places = store.open(user);
    checkOption("store", hasMethods(places, "take") ? store : {}, allowed.store);
    return places;
  });
}

const finiteMs: OptionRule = {
  ...rules.durationMs,
  holds: (value) => value !== Infinity && rules.durationMs.holds(value),
};

function readWindow(window: unknown, index: number): RateLimitWindow {
  const place = `windows[${index}]`;
  checkOption(place, window, rules.object);
  // True: it has just been found to be an object; each field is checked below.
  const { limit, intervalMs } = window as RateLimitWindow;
  checkOption(`${place}.limit`, limit, rules.positiveCount);
  checkOption(`${place}.intervalMs`, intervalMs, finiteMs);
  return Object.freeze({ limit, intervalMs });
}

function isFilledList(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}

function isClock(value: unknown): boolean {
  if (typeof value !== "function") return false;
  const read: unknown = Reflect.apply(value, undefined, []);
  hearOut(read);
  return Number.isFinite(read);
}
