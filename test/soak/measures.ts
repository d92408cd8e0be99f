import { garbageCollector } from "../garbage-collector.ts";

const collect = garbageCollector();

/** The memory in use after a full collection, in MB: on the heap and outside it. */
export async function heldMb(): Promise<number> {
  // Finalizers and timers may release more memory after a collection.
  for (let round = 0; round < 3; round++) {
    collect();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1_000_000;
}

const rounds = 20;

/**
 * The smallest figure of at most twenty rounds; the first round within the bound ends them. Other load on the machine can
 * make a round slower, never faster, so a real regression shows in each.
 */
export async function leastWithin(bound: number, measure: () => Promise<number>): Promise<number> {
  let least = Infinity;
  for (let round = 0; round < rounds && least > bound; round += 1) least = Math.min(least, await measure());
  return least;
}
