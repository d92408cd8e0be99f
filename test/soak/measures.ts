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
