import { DOCUMENTED_WINDOWS } from "audience-sdk";
import { describe, expect, it } from "vitest";
import { timesOf } from "../properties/runs.ts";
import {
  bestLastResponse,
  idealMs,
  type Load,
  meanRoundTripMs,
  randomFrom,
  refusedByFixed,
  refusedBySliding,
  refusedByTokenBucket,
  simulate,
} from "./simulation.ts";

// Outside the soak the longest loads run once in each network.
const seedsOf = (calls: number) => {
  const isLong = calls >= 1_000 && process.env["SOAK"] === undefined;
  return Array.from({ length: isLong ? 1 : timesOf(20, 4) }, (_, index) => index + 1);
};
const delays = [
  [5, 300],
  [5, 3_000],
] as const;
const spreads = ["short", "even"] as const;

/** How many arrivals servers of three kinds refuse; the fixed windows with five random phases. */
function refusals(arrivals: number[], seed: number): number {
  const random = randomFrom(seed + 1_000);
  let refused =
    refusedBySliding(arrivals, DOCUMENTED_WINDOWS) + refusedByTokenBucket(arrivals, DOCUMENTED_WINDOWS);
  for (let round = 0; round < 5; round += 1) {
    refused += refusedByFixed(arrivals, DOCUMENTED_WINDOWS, [random(), random(), random()]);
  }
  return refused;
}

const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

describe.each(delays)("with delays of %i to %i ms each way", (...delayMs) => {
  describe.each(spreads)("most of them %s", (spread) => {
    it.each([10, 50, 100, 500, 1_000, 2_500])(
      "%i calls at once never exceed a limit, and waste no time",
      async (calls) => {
        const ofIdeal: number[] = [];
        for (const seed of seedsOf(calls)) {
          const load: Load = { seed, askedAt: Array<number>(calls).fill(0), delayMs, spread };
          const { arrivals, lastResponseAt } = await simulate(load);
          expect(refusals(arrivals, seed)).toBe(0);
          expect(lastResponseAt / bestLastResponse(load)).toBeLessThan(1.005);
          ofIdeal.push(lastResponseAt / (idealMs(calls) + meanRoundTripMs(load)));
        }
        // Only with mostly short delays: with evenly distributed ones even the ideal limiter is above this.
        if (delayMs[1] > 300 || spread !== "short" || calls < 50) return;
        expect(mean(ofIdeal)).toBeLessThan(calls < 500 ? 1.3 : 1.02);
      },
    );
  });
});

// The time at which one window ends and the next begins.
describe("Loads at the edges of windows never exceed a limit", () => {
  it.each(delays)("with delays of %i to %i ms each way", async (...delayMs) => {
    for (const seed of seedsOf(1_180)) {
      const random = randomFrom(seed);
      const groups: [at: number, calls: number][] = [
        [950, 10],
        [1_000, 10],
        [59_500, 60],
        [60_010, 100],
        [3_590_000, 700],
        [3_600_001, 300],
      ];
      const askedAt = groups.flatMap(([at, calls]) =>
        Array.from({ length: calls }, () => at + 60 * random()),
      );
      const load: Load = { seed, askedAt, delayMs };
      const { arrivals, lastResponseAt } = await simulate(load);
      expect(refusals(arrivals, seed)).toBe(0);
      expect(lastResponseAt / bestLastResponse(load)).toBeLessThan(1.005);
    }
  });
});
