import { variantsRule } from "./default-variants.ts";
import { faultRule, type MockFault } from "./faults.ts";
import { aFunction, arrayOf, enumOf, isDuration, number, object, type Rule, that } from "./json-rules.ts";
import { type MockRateLimitOptions, type MockRateWindow, rateLimitsRule } from "./rate-window.ts";
import { type MockOrganizationSeed, organizationRule } from "./state/seed.ts";
import type { MockVariants, Optional } from "./variants.ts";
import type { MockWebhookFetch } from "./webhooks.ts";

/** Options of the mock. */
export interface MockServiceOptions {
  /** The organizations at the start; default one organization with a list and a segment. */
  organizations?: readonly MockOrganizationSeed[] | undefined;
  /** `false` (the default, so that tests are fast), `"documented"`, windows, or windows with an algorithm. */
  rateLimits?: false | "documented" | readonly MockRateWindow[] | MockRateLimitOptions | undefined;
  /** The faults at the start, and again after each `reset`; default none. */
  faults?: readonly MockFault[] | undefined;
  /**
   * Milliseconds from sending to response: half of them before the request arrives. With `[min, max]` the time and the
   * part before are random, so that requests can overtake each other.
   */
  latencyMs?: number | readonly [min: number, max: number] | undefined;
  /** The clock for timestamps and rate limits, in milliseconds; default `Date.now`. */
  clock?: (() => number) | undefined;
  /** The seed of all random values, ids included; default 1. The same seed gives the same run. */
  seed?: number | undefined;
  /** The behaviour that the service document leaves open. */
  variants?: Optional<MockVariants> | undefined;
  /** The receivers that automations may call: those on `"loopback"` (the default), or `"anywhere"`. */
  webhooks?: "loopback" | "anywhere" | undefined;
  /** Calls the receivers; default `globalThis.fetch`, looked up for each call. */
  webhookFetch?: MockWebhookFetch | undefined;
}

const fields: Record<keyof MockServiceOptions, Rule> = {
  organizations: arrayOf(organizationRule, { min: 1 }),
  rateLimits: rateLimitsRule,
  faults: arrayOf(faultRule),
  latencyMs: that(
    (value) => isDuration(value) || isRange(value),
    "must be milliseconds from 0, or [min, max]",
  ),
  clock: that(
    // Safe: a function may be called without arguments.
    (value) => typeof value === "function" && Number.isFinite((value as () => unknown)()),
    "must be a function that returns milliseconds",
  ),
  seed: number,
  variants: variantsRule,
  webhooks: enumOf("loopback", "anywhere"),
  webhookFetch: aFunction,
};

export const optionsRule = object(fields);

function isRange(value: unknown): boolean {
  if (!Array.isArray(value) || value.length !== 2) return false;
  // Safe: any array is an array of unknown values.
  const [min, max] = value as unknown[];
  return isDuration(min) && isDuration(max) && min <= max;
}
