import fc from "fast-check";
import { expect, it } from "vitest";
import { playSeeds, range, Tally } from "../chaos/run-seed.ts";
import { expectLearned, shownByGets } from "../examples/probe-account.ts";
import { runs as runsOf } from "../properties/runs.ts";

const { CHAOS_RUNS: runs = "10000", CHAOS_SEED: seed, CHAOS_STEPS: steps, CI: ci } = process.env;
const first = ci === undefined ? Date.now() % 2 ** 30 : 1;
const seeds = seed === undefined ? range(first, Number(runs)) : [Number(seed)];

it(
  `${seeds.length} random programs, from seed ${seeds[0]}, break no promise`,
  { timeout: 3_600_000 },
  async () => {
    const tally = new Tally();

    await playSeeds(seeds, { onWorld: tally.add, ...(steps !== undefined && { steps: Number(steps) }) });

    console.log(Object.fromEntries([...tally.counts].toSorted(([a], [b]) => a.localeCompare(b))));
    expect(tally.counts.get("seeds")).toBe(seeds.length);
  },
);

it("The probe learns 2,500 random accounts as they are", async () => {
  await fc.assert(fc.asyncProperty(shownByGets, expectLearned), runsOf(2_500));
});
