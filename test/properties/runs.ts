import type { Parameters } from "fast-check";

const byHand = process.env["PROPERTY_RUNS"];
// `npm run soak` tries every value, the suite the first ones of them.
const isSoak = process.env["SOAK"] !== undefined;
const seed = process.env["PROPERTY_SEED"];

/** The number of values for a property: `count` in the soak, a tenth of it or `inSuite` in the suite, or `PROPERTY_RUNS`. */
export function timesOf(count: number, inSuite = Math.ceil(count / 10)): number {
  if (byHand !== undefined) return Number(byHand);
  return isSoak ? count : inSuite;
}

/**
 * The suite uses the same values each time, so that a failure is reproducible; `PROPERTY_RUNS` draws new ones, or those of
 * `PROPERTY_SEED`.
 *
 * ```sh
 * PROPERTY_RUNS=1000000 npm test -- test/properties/schemas-and-mock-agree.test.ts
 * ```
 */
export function runs(count: number, inSuite?: number): Parameters<unknown> {
  const numRuns = timesOf(count, inSuite);
  if (seed !== undefined) return { numRuns, seed: Number(seed) };
  return byHand === undefined ? { numRuns, seed: 1 } : { numRuns };
}
