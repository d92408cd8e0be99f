import { describe, expect, it } from "vitest";
import { estimated } from "./estimated.ts";
import { randomFrom } from "./simulation.ts";

describe("estimateMs is within 2 % of the time", () => {
  it.each([1_000, 2_500, 10_000])("to send %i calls", async (calls) => {
    const { estimatedMs, tookMs } = await estimated(calls, () => 200);
    expect(Math.abs(estimatedMs / tookMs - 1)).toBeLessThan(0.02);
  });

  it.each([500, 1_000, 2_500])("to send %i calls whose responses take 10 to 600 ms", async (calls) => {
    for (const seed of [1, 2, 3, 4, 5]) {
      const random = randomFrom(seed);
      const { estimatedMs, tookMs } = await estimated(calls, () => 10 + 590 * random());
      expect(Math.abs(estimatedMs / tookMs - 1)).toBeLessThan(0.02);
    }
  });
});
