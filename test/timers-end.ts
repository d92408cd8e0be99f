import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";

/** Waits until no timer keeps the process alive: a call that is left behind would go on in the time of what comes next. */
export async function timersEnd(): Promise<void> {
  // The runner's own timer takes milliseconds.
  for (let waits = 0; timers() > 0 && waits < 1_000; waits++) await sleep(5);
  expect(timers(), "timers that are left behind").toBe(0);
}

function timers(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
}
