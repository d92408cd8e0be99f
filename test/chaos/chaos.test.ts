import { expect, it } from "vitest";
import { playSeeds, range, Tally } from "./run-seed.ts";
import { faultKinds, variantChoices } from "./service.ts";

// `npm run soak` plays 10,000 new ones, or as the environment says; the suite plays some that reach all that is named below.
const { CHAOS_RUNS: runs = "10000", CHAOS_SEED: seed, CHAOS_STEPS: steps, CI: ci, SOAK: soak } = process.env;
const first = ci === undefined ? Date.now() % 2 ** 30 : 1;
const long = seed === undefined ? range(first, Number(runs)) : [Number(seed)];
const seeds = soak === undefined ? range(1, 50) : long;

const statuses = ["succeeded", "invalid", "failed", "unknown", "skipped", "superseded"];
const wanted = [
  ...faultKinds.map((kind) => `fault ${kind}`),
  ...Object.keys(variantChoices).map((variant) => `variant ${variant}`),
  ...["not-sent", "not-applied", "applied", "unknown"].map((outcome) => `outcome ${outcome}`),
  ...statuses.map((status) => `row ${status}`),
  ...["run", "process", "service", "not-current"].map((reason) => `rows superseded by ${reason}`),
  "calls killed",
  "retried calls",
  "rows of two writes",
  "rows kept",
  "runs killed",
];

it(
  `${seeds.length} random programs from seed ${seeds[0]}, under random faults, kills and variants of the service, break no promise`,
  { timeout: 3_600_000 },
  async () => {
    const tally = new Tally();

    await playSeeds(seeds, { onWorld: tally.add, ...(steps !== undefined && { steps: Number(steps) }) });

    expect(tally.counts.get("seeds")).toBe(seeds.length);
    if (seeds.length >= 50) expect(wanted.filter((each) => !tally.counts.has(each))).toEqual([]);
    if (soak !== undefined) console.log(Object.fromEntries(tally.counts));
  },
);
