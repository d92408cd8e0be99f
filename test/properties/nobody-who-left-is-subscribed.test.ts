import * as fc from "fast-check";
import { expect, it, vi } from "vitest";
import { IsCurrentGuard } from "../../src/bulk/guards/is-current.ts";
import { ServiceGuard } from "../../src/bulk/guards/look.ts";
import { ProcessGuard } from "../../src/bulk/guards/other-calls.ts";
import { items } from "./leaving/oracle.ts";
import { plan } from "./leaving/plans.ts";
import { World } from "./leaving/world.ts";
import { runs, timesOf } from "./runs.ts";

it("Whoever has left is not subscribed again by a row, but for what the contract names, and no opt-out is lost", async () => {
  const worlds = new Map<string, number>();
  const count = (name: string) => worlds.set(name, (worlds.get(name) ?? 0) + 1);

  await fc.assert(
    fc.asyncProperty(plan, async (given) => {
      const world = new World(given);
      await world.play();
      expect(world.oracle.wrongs).toEqual([]);
      for (const item of world.oracle.reached) count(item);
      for (const reason of new Set(world.results.map((result) => result.reason))) if (reason) count(reason);
      if (world.results.some(({ kept }) => kept)) count("kept");
    }),
    runs(10_000, 200),
  );

  const wanted = timesOf(10_000, 200) / 20;
  expect(items.map((item) => `${item}: ${Math.min(worlds.get(item) ?? 0, wanted)}`)).toEqual(
    items.map((item) => `${item}: ${wanted}`),
  );
}, 1_800_000);

const nothingKnown = async () => ({ words: [], askedAt: performance.now() });

// Else the worlds would not show that the guard is needed.
it.each([
  ["the process", () => vi.spyOn(ProcessGuard.prototype, "concerns").mockReturnValue(false)],
  ["the process before a kill", () => vi.spyOn(ProcessGuard.prototype, "recallRefusals").mockResolvedValue()],
  ["the run", () => vi.spyOn(ProcessGuard.prototype, "learn").mockReturnValue()],
  ["the service", () => vi.spyOn(ServiceGuard.prototype, "ask").mockImplementation(nothingKnown)],
  ["isCurrent", () => vi.spyOn(IsCurrentGuard.prototype, "ask").mockImplementation(nothingKnown)],
])("Without the guard of %s a world is wrong", async (_, takeOut) => {
  takeOut();
  let wrongs: readonly string[] = [];
  for (const given of fc.sample(plan, { seed: 1, numRuns: 100 })) {
    const world = new World(given);
    await world.play();
    wrongs = world.oracle.wrongs;
    if (wrongs.length > 0) break;
  }

  expect(wrongs).not.toEqual([]);
});
