import type { Parameters } from "fast-check";

const byHand = process.env["PROPERTY_RUNS"];
const seed = process.env["PROPERTY_SEED"];

/** How many values a property is tried with: `count`, or by hand as many as `PROPERTY_RUNS` says. */
export function timesOf(count: number): number {
  return byHand === undefined ? count : Number(byHand);
}

/**
 * In the suite the same values each time, so that a run which fails does so again; by hand others each time, or those of
 * `PROPERTY_SEED`.
 *
 * ```sh
 * PROPERTY_RUNS=1000000 npm test -- test/properties/schemas-and-mock-agree.test.ts
 * ```
 */
export function runs(count: number): Parameters<unknown> {
  const numRuns = timesOf(count);
  if (seed !== undefined) return { numRuns, seed: Number(seed) };
  return byHand === undefined ? { numRuns, seed: 1 } : { numRuns };
}
