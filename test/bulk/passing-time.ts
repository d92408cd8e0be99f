import { createHash } from "node:crypto";
import { expect, vi } from "vitest";

const realImmediate = globalThis.setImmediate;

/** Fake timers for a run of bulk. Web Crypto's own hashes come from another thread, which takes a real and random time. */
export function useFakeTime(): void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance", "Date"] });
  vi.spyOn(crypto.subtle, "digest").mockImplementation(async (_, data) => {
    return new Uint8Array(
      createHash("sha256")
        .update(data as Uint8Array)
        .digest(),
    ).buffer;
  });
}

/** Lets an hour of virtual time pass at most, a tenth of a second at a time. Between, everything else goes on as far as it can. */
export async function passUntil(condition: () => boolean): Promise<void> {
  for (let tenths = 0; tenths < 36_000 && !condition(); tenths++) {
    for (let turns = 0; turns < 20 && !condition(); turns++)
      await new Promise((resolve) => realImmediate(resolve));
    await vi.advanceTimersByTimeAsync(condition() ? 0 : 100);
  }
  expect(condition(), condition.toString()).toBe(true);
}

/** Lets virtual time pass until the promise is settled. */
export async function passUntilSettled<T>(promise: Promise<T>): Promise<T> {
  let isSettled = false;
  const settle = () => void (isSettled = true);
  promise.then(settle, settle);
  await passUntil(() => isSettled);
  return await promise;
}
