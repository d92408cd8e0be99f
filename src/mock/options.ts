import { checkRateLimits } from "./check-rate-limits.ts";
import type { MockServiceOptions } from "./interface.ts";
import { readable } from "./own-copy.ts";

interface Rule {
  readonly accepts: (value: unknown) => boolean;
  readonly expectation: string;
}

/** The longest delay of a timer. */
const longestMs = 2 ** 31 - 1;
const latestMs = 8.64e15;

const isDuration = (value: unknown): value is number =>
  typeof value === "number" && value >= 0 && value <= longestMs;
const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

const array: Rule = { accepts: Array.isArray, expectation: "an array" };

const rules: Record<keyof MockServiceOptions, Rule> = {
  organizations: array,
  rateLimits: {
    accepts: (value) =>
      value === false || value === "documented" || Array.isArray(value) || hasWindows(value),
    expectation:
      'false, "documented", an array of windows, or { windows, algorithm, retryAfter, countRefused }',
  },
  faults: array,
  latencyMs: {
    accepts: (value) => isDuration(value) || isRange(value),
    expectation: "milliseconds from 0, or [min, max]",
  },
  clock: { accepts: isClock, expectation: "a function that returns milliseconds" },
  seed: { accepts: (value) => typeof value === "number" && Number.isFinite(value), expectation: "a number" },
  variants: { accepts: isObject, expectation: "an object" },
};

/** Checks the options of the mock. */
export function checkOptions(options: MockServiceOptions): void {
  if (!isObject(options) || Array.isArray(options))
    throw new TypeError("the options of the mock must be an object");
  for (const [name, value] of Object.entries(options)) {
    const rule = Object.hasOwn(rules, name) ? rules[name as keyof typeof rules] : undefined;
    if (!rule)
      throw new TypeError(`the mock has no option "${name}"; there are ${Object.keys(rules).join(", ")}`);
    if (value !== undefined && !readable(name, () => rule.accepts(value)))
      throw new TypeError(`${name} must be ${rule.expectation}`);
  }
  checkRateLimits(options.rateLimits);
}

function isRange(value: unknown): boolean {
  if (!Array.isArray(value) || value.length !== 2) return false;
  // Safe: any array is an array of unknown values.
  const [min, max] = value as unknown[];
  return isDuration(min) && isDuration(max) && min <= max;
}

function hasWindows(value: unknown): boolean {
  return isObject(value) && "windows" in value && Array.isArray(value.windows);
}

function isClock(value: unknown): boolean {
  if (typeof value !== "function") return false;
  // Safe: any function may be called without arguments; its result is unknown.
  const now: unknown = (value as () => unknown)();
  // An asynchronous clock is refused; its rejection must not stay unhandled.
  if (now instanceof Promise) now.catch(() => undefined);
  return typeof now === "number" && Math.abs(now) <= latestMs;
}
