import type { MockServiceOptions } from "./mock-service.ts";

interface Rule {
  readonly holds: (value: unknown) => boolean;
  readonly words: string;
}

const isDuration = (value: unknown): value is number =>
  typeof value === "number" && Number.isFinite(value) && value >= 0;
const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

const array: Rule = { holds: Array.isArray, words: "an array" };
const algorithms: readonly unknown[] = ["sliding", "fixed", "token-bucket", undefined];

const rules: Record<keyof MockServiceOptions, Rule> = {
  organizations: array,
  rateLimits: {
    holds: (value) =>
      value === false || value === "documented" || Array.isArray(value) || isLimitOptions(value),
    words: 'false, "documented", an array of windows, or { windows, algorithm, retryAfter, countRefused }',
  },
  faults: array,
  latencyMs: {
    holds: (value) => isDuration(value) || isRange(value),
    words: "milliseconds from 0, or [min, max]",
  },
  clock: { holds: (value) => typeof value === "function", words: "a function" },
  seed: { holds: (value) => typeof value === "number" && Number.isFinite(value), words: "a number" },
  variants: { holds: isObject, words: "an object" },
};

/** Whoever mistypes an option of the mock would look for the mistake in their own program. */
export function checkOptions(options: MockServiceOptions): void {
  if (!isObject(options) || Array.isArray(options))
    throw new TypeError("the options of the mock must be an object");
  for (const [name, value] of Object.entries(options)) {
    const rule = Object.hasOwn(rules, name) ? rules[name as keyof typeof rules] : undefined;
    if (!rule)
      throw new TypeError(`the mock has no option "${name}"; there are ${Object.keys(rules).join(", ")}`);
    if (value !== undefined && !rule.holds(value)) throw new TypeError(`${name} must be ${rule.words}`);
  }
}

function isRange(value: unknown): boolean {
  if (!Array.isArray(value) || value.length !== 2) return false;
  // What an array holds is not known.
  const [min, max] = value as unknown[];
  return isDuration(min) && isDuration(max) && min <= max;
}

function isLimitOptions(value: unknown): boolean {
  if (!isObject(value) || !("windows" in value) || !Array.isArray(value.windows)) return false;
  return algorithms.includes("algorithm" in value ? value.algorithm : undefined);
}
