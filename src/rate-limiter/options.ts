import { ConfigurationError, type RateLimitWindow } from "../errors.ts";
import { DOCUMENTED_WINDOWS } from "../limits.ts";
import { readGuarded, rules } from "../option-checks.ts";
import { readSnapshot, type RateLimiterSnapshot } from "./snapshot.ts";
import type { RateLimitStore } from "./store.ts";
import { hearOut } from "../hear-out.ts";

/** Options of a `RateLimiter`; each may be left out. */
export interface RateLimiterOptions {
  /** The windows to keep, by default the documented ones: 10 per second, 100 per minute, 1,000 per hour ("Limits"). */
  readonly windows?: readonly RateLimitWindow[] | undefined;
  /** A call that would wait longer for its place is refused, with a `RateLimitWaitError`. Default: none. */
  readonly maxWaitMs?: number | undefined;
  /** A call that finds this many waiting is refused. Default: none. */
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

const names = ["windows", "maxWaitMs", "maxQueued", "store", "snapshot", "clock"];

/** Checks the options; a bad one is a `ConfigurationError` that names it. */
export function readOptions(options: unknown): RateLimiterSettings {
  return readGuarded("RateLimiter: an option", () => readSettings(options));
}

function readSettings(options: unknown): RateLimiterSettings {
  if (!isRecord(options)) throw new ConfigurationError("RateLimiter: the options must be one object.");
  const unknown = Object.keys(options).filter((name) => !names.includes(name));
  if (unknown.length > 0) {
    throw new ConfigurationError(
      `RateLimiter: there is no option \`${unknown[0]}\`; there are ${names.join(", ")}.`,
    );
  }
  return {
    windows: readWindows(options["windows"] ?? DOCUMENTED_WINDOWS),
    maxWaitMs: readBound("maxWaitMs", options["maxWaitMs"]),
    maxQueued: readBound("maxQueued", options["maxQueued"]),
    store: readStore(options["store"]),
    snapshot: options["snapshot"] === undefined ? undefined : readSnapshot(options["snapshot"]),
    clock: readClock(options["clock"]),
  };
}

function readWindows(windows: unknown): RateLimitWindow[] {
  if (!Array.isArray(windows) || windows.length === 0) {
    throw new ConfigurationError("`windows` must be a list of at least one { limit, intervalMs }.");
  }
  // Not `map`, which would pass over holes, however many.
  return Array.from(windows, (window: unknown, index) => {
    const { limit, intervalMs } = isRecord(window) ? window : {};
    if (typeof limit !== "number" || !Number.isInteger(limit) || limit < 1) {
      throw new ConfigurationError(`\`windows[${index}].limit\` must be an integer from 1.`);
    }
    if (typeof intervalMs !== "number" || !Number.isFinite(intervalMs) || intervalMs <= 0) {
      throw new ConfigurationError(
        `\`windows[${index}].intervalMs\` must be a number of milliseconds over 0.`,
      );
    }
    return Object.freeze({ limit, intervalMs });
  });
}

/** A number from 0, of calls a whole one; left out, there is no bound. */
export function readBound(name: "maxWaitMs" | "maxQueued", value: unknown): number {
  if (value === undefined) return Infinity;
  const isWhole = name === "maxWaitMs" || value === Infinity || Number.isInteger(value);
  if (typeof value === "number" && value >= 0 && isWhole) return value;
  throw new ConfigurationError(`\`${name}\` must be a ${name === "maxQueued" ? "whole " : ""}number from 0.`);
}

function readStore(store: unknown): RateLimitStore | undefined {
  if (store === undefined) return undefined;
  if (!isRecord(store) || typeof store["open"] !== "function") {
    throw new ConfigurationError(
      "`store` must be a rate limit store, as `redisRateLimitStore(redis)` gives.",
    );
  }
  // Only what the package makes has this method.
  return store as unknown as RateLimitStore;
}

function readClock(clock: unknown): () => number {
  if (clock === undefined) return () => performance.now();
  if (isFunction(clock)) {
    const read = clock();
    hearOut(read);
    // It has just given a number.
    if (typeof read === "number" && Number.isFinite(read)) return clock as () => number;
  }
  throw new ConfigurationError(
    "`clock` must be a function that gives milliseconds, as `() => performance.now()`.",
  );
}

function isFunction(value: unknown): value is () => unknown {
  return typeof value === "function";
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return rules.object.holds(value);
}
