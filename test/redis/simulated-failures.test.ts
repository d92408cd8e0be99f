import { beforeEach, expect, it, vi } from "vitest";
import { randomFrom } from "../rate-limiter/simulation.ts";
import { runWithFailures } from "./simulated-failures.ts";

// Questions of several processes are moved apart by a random time.
beforeEach(() => void vi.spyOn(Math, "random").mockImplementation(randomFrom(1)));

const seeds = Array.from({ length: 100 }, (_, index) => index + 1);

it("Four processes never exceed a limit while Redis does not fail, and every call gets its permit", async () => {
  for (const seed of seeds.slice(0, 30)) {
    expect({ seed, ...(await runWithFailures(seed, 0)) }).toEqual({ seed, log: [], refused: 0, waiting: 0 });
  }
});

it("Around three failures of Redis they exceed windows of 8, 40 and 200 by a few calls, in less than half of the runs", async () => {
  const refused: number[] = [];
  for (const seed of seeds) {
    const ended = await runWithFailures(seed, 3);
    expect({ seed, waiting: ended.waiting }).toEqual({ seed, waiting: 0 });
    refused.push(ended.refused);
  }
  expect(refused.filter((calls) => calls > 0).length).toBeLessThan(50);
  expect(refused.filter((calls) => calls > 8).length).toBeLessThanOrEqual(4);
  expect(Math.max(...refused)).toBeLessThanOrEqual(16);
});
