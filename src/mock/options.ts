import {
  array,
  checkPlainObject,
  checkValues,
  enumOf,
  isDuration,
  isObject,
  number,
  object,
  type OptionRule,
} from "./check.ts";
import type { MockFault } from "./faults.ts";
import type { MockRateLimitOptions, MockRateWindow } from "./rate-window.ts";
import type { MockOrganizationSeed } from "./state/seed.ts";
import type { MockVariants } from "./variants.ts";
import type { MockWebhookFetch } from "./webhooks.ts";

/** Options of the mock. */
export interface MockServiceOptions {
  /** The organizations at the start; default one organization with a list and a segment. */
  organizations?: readonly MockOrganizationSeed[];
  /** `false` (the default, so that tests are fast), `"documented"`, windows, or windows with an algorithm. */
  rateLimits?: false | "documented" | readonly MockRateWindow[] | MockRateLimitOptions;
  /** The faults at the start, and again after each `reset`; default none. */
  faults?: readonly MockFault[];
  /**
   * Milliseconds from sending to response: half of them before the request arrives. With `[min, max]` the time and the
   * part before are random, so that requests can overtake each other.
   */
  latencyMs?: number | readonly [min: number, max: number];
  /** The clock for timestamps and rate limits, in milliseconds; default `Date.now`. */
  clock?: () => number;
  /** The seed of all random values, ids included; default 1. The same seed gives the same run. */
  seed?: number;
  /** The behaviour that the service document leaves open. */
  variants?: Partial<MockVariants>;
  /** The receivers that automations may call: those on `"loopback"` (the default), or `"anywhere"`. */
  webhooks?: "loopback" | "anywhere";
  /** Calls the receivers; default `globalThis.fetch`, looked up for each call. */
  webhookFetch?: MockWebhookFetch;
}

const LATEST_MS = 8.64e15;

const rules: Record<keyof MockServiceOptions, OptionRule> = {
  organizations: array,
  rateLimits: {
    accepts: (value) =>
      value === false || value === "documented" || Array.isArray(isObject(value) ? value["windows"] : value),
    expectation:
      'false, "documented", an array of windows, or { windows, algorithm, retryAfter, countRefused }',
  },
  faults: array,
  latencyMs: {
    accepts: (value) => isDuration(value) || isRange(value),
    expectation: "milliseconds from 0, or [min, max]",
  },
  clock: { accepts: isClock, expectation: "a function that returns milliseconds" },
  seed: number,
  variants: object,
  webhooks: enumOf("loopback", "anywhere"),
  webhookFetch: { accepts: (value) => typeof value === "function", expectation: "a function" },
};

/** Checks the options of the mock. */
export function checkOptions(options: MockServiceOptions): void {
  checkPlainObject("the options of the mock", options);
  checkValues("the options of the mock", options, rules, { path: "" });
}

function isRange(value: unknown): boolean {
  if (!Array.isArray(value) || value.length !== 2) return false;
  // Safe: any array is an array of unknown values.
  const [min, max] = value as unknown[];
  return isDuration(min) && isDuration(max) && min <= max;
}

function isClock(value: unknown): boolean {
  if (typeof value !== "function") return false;
  // Safe: any function may be called without arguments; its result is unknown.
  const now: unknown = (value as () => unknown)();
  // An asynchronous clock is refused; its rejection must not stay unhandled.
  if (now instanceof Promise) now.catch(() => undefined);
  return typeof now === "number" && Math.abs(now) <= LATEST_MS;
}
