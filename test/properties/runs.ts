import type { Parameters } from "fast-check";

const byHand = process.env["PROPERTY_RUNS"];
// `npm run soak` tries every value, the suite the first fifth of them.
const share = process.env["SOAK"] === undefined ? 1 / 5 : 1;
const seed = process.env["PROPERTY_SEED"];

/** The number of values for a property: `count` in the soak, a fifth of it in the suite, or `PROPERTY_RUNS`. */
export function timesOf(count: number): number {
  return byHand === undefined ? Math.ceil(count * share) : Number(byHand);
}

/**
 * The suite uses the same values each time, so that a failure is reproducible; `PROPERTY_RUNS` draws new ones, or those of
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
