import { garbageCollector } from "../garbage-collector.ts";

const collect = garbageCollector();

/** What is still held after a full collection, in MB: on the heap and beside it. */
export async function heldMb(): Promise<number> {
  // What a collection frees may hold more behind finalizers and timers.
  for (let round = 0; round < 3; round++) {
    collect();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1_000_000;
}
