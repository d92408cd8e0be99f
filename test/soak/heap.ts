import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
// True: the flag has just put it there.
const gc = runInNewContext("gc") as () => void;

/** What is still held after a full collection, in MB: on the heap and beside it. */
export async function heldMb(): Promise<number> {
  // What a collection frees may hold more behind finalizers and timers.
  for (let round = 0; round < 3; round++) {
    gc();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1_000_000;
}
