import { DOCUMENTED_WINDOWS } from "audience-sdk";
import { expect, it } from "vitest";
import { besideAnImport } from "../rate-limiter/beside-an-import.ts";
import { refusedBySliding } from "../rate-limiter/simulation.ts";

const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

it.each([
  ["one by one", 1],
  ["in fives", 5],
])(
  "Of 10,000 calls beside an import and the reading of a list, 90 an hour, %s, none waits over two seconds while they keep to a tenth of each window",
  async (_, together) => {
    const callsOfHours = [45, ...Array<number>(111).fill(90)];
    const { waits, isWithinATenth, rowsOfHours, arrivals } = await besideAnImport({
      seed: 38,
      callsOfHours,
      together,
    });
    const late = waits.flatMap((waitMs, call) => (waitMs > 2_000 ? [isWithinATenth[call]] : []));
    console.log(`${late.length} of ${waits.length} calls, ${together} at a time, waited over two seconds`);
    expect(waits).toHaveLength(10_035);
    expect(late.filter(Boolean)).toEqual([]);
    // Such as twenty calls in one minute.
    expect(late.length).toBeLessThanOrEqual(10);
    expect(Math.max(...waits)).toBeLessThan(15_000);
    expect(mean(rowsOfHours)).toBeGreaterThanOrEqual(880);
    expect(refusedBySliding(arrivals, DOCUMENTED_WINDOWS)).toBe(0);
  },
);

it("Of calls whose number rises from 90 to 400 an hour, 99 of 100 wait at most ten seconds", async () => {
  const waits: number[] = [];
  for (let seed = 1; seed <= 10; seed += 1) {
    const ofSeed = await besideAnImport({ seed, callsOfHours: [90, 90, 90, 400, 400, 400] });
    waits.push(...ofSeed.waits);
    expect(refusedBySliding(ofSeed.arrivals, DOCUMENTED_WINDOWS)).toBe(0);
  }
  expect(waits).toHaveLength(14_700);
  expect(waits.filter((waitMs) => waitMs > 10_000).length).toBeLessThan(waits.length / 100);
});
