import { expect, it } from "vitest";
import type { RateLimitWindow } from "../../src/errors.ts";
import { RateLimiter } from "../../src/rate-limiter/rate-limiter.ts";
import { storeOf } from "../../src/redis/redis-store.ts";
import { refusedBySliding } from "../rate-limiter/server-count.ts";
import { VirtualTime } from "../rate-limiter/virtual-time.ts";
import { MemoryScripts } from "../redis/memory-scripts.ts";
import { runWithFailures } from "../redis/simulated-failures.ts";

const windows = [{ limit: 4, intervalMs: 1_000 }];
const longWindows = [{ limit: 4, intervalMs: 10_000 }];

/** Two processes with one Redis store. Their requests arrive at once, and get their responses at once. */
function twoProcesses(limits: readonly RateLimitWindow[]) {
  const time = new VirtualTime();
  const store = new MemoryScripts({ time, localShare: 1 / 2 });
  const process = () => new RateLimiter({ clock: time.now, store: storeOf(store, store), windows: limits });
  const arrivals: number[] = [];
  const callAt = (at: number, calls: number, limiter: RateLimiter): void => {
    time.at(at, () => {
      for (let call = 0; call < calls; call += 1) {
        void Promise.resolve(limiter.acquire()).then((permit) => {
          arrivals.push(time.now());
          permit.release("responded");
        });
      }
    });
  };
  return { time, store, arrivals, callAt, one: process(), other: process() };
}

// Redis began its recovery while all replies were lost. The recovery was over shortly after the outage, and Redis granted
// a whole window to one process while the other had used a part of it in its local fallback.
it("A Redis whose replies are lost does not begin its recovery, because no process would know of it", async () => {
  const { time, store, arrivals, callAt, one, other } = twoProcesses(windows);
  await time.run(() => {
    callAt(0, 1, one);
    callAt(1_200, 1, other);
    time.at(5_000, () => (store.network = "loses replies"));
    time.at(16_000, () => (store.network = "up"));
    callAt(16_400, 4, one);
    callAt(16_400, 2, other);
  }, 60_000);
  expect(arrivals).toHaveLength(8);
  expect(refusedBySliding(arrivals, windows)).toBe(0);
});

// There is one recovery for all processes, so that a process with an unstable connection does not delay the others.
// But a process that returned late in the recovery did not wait for the others.
it("A process that returns during the recovery waits for the others, too", async () => {
  const { time, store, arrivals, callAt, one, other } = twoProcesses(windows);
  await time.run(() => {
    callAt(0, 1, one);
    callAt(1_200, 1, other);
    time.at(10_000, () => (store.network = "refuses"));
    time.at(12_300, () => (store.network = "up"));
    time.at(13_200, () => (store.network = "refuses"));
    callAt(14_300, 1, one);
    callAt(14_500, 1, other);
    time.at(17_300, () => (store.network = "up"));
    callAt(17_500, 2, other);
    callAt(17_550, 4, one);
  }, 60_000);
  expect(arrivals).toHaveLength(10);
  expect(refusedBySliding(arrivals, windows)).toBe(0);
});

// The process that found Redis empty could not write its permits back, and the outage lasted as long as the recovery.
// The other one was without Redis for less than four seconds, and did not wait.
it("A process that finds after a short outage that Redis has lost its data waits for the others", async () => {
  const { time, store, arrivals, callAt, one, other } = twoProcesses(longWindows);
  await time.run(() => {
    callAt(500, 1, one);
    callAt(1_300, 1, other);
    callAt(6_000, 2, other);
    time.at(9_250, () => store.loseMemory());
    time.at(9_302, () => (store.network = "refuses"));
    time.at(13_400, () => (store.network = "up"));
    callAt(13_600, 4, one);
  }, 60_000);
  expect(arrivals).toHaveLength(8);
  expect(refusedBySliding(arrivals, longWindows)).toBe(0);
});

// Redis had lost the name of the other process, too, which had started after the last reply to the first.
it("A process that finds Redis empty does not take itself for the only one", async () => {
  const { time, store, arrivals, callAt, one, other } = twoProcesses(longWindows);
  await time.run(() => {
    callAt(0, 1, one);
    callAt(300, 3, other);
    time.at(1_990, () => store.loseMemory());
    time.at(3_990, () => (store.network = "refuses"));
    callAt(4_500, 1, one);
  }, 30_000);
  expect(arrivals).toHaveLength(5);
  expect(refusedBySliding(arrivals, longWindows)).toBe(0);
});

it.each([273, 547, 679, 1_504, 3_247])(
  "Four processes exceed no limit while the replies of Redis are lost (seed %i)",
  async (seed) => {
    expect(await runWithFailures(seed)).toMatchObject({ refused: 0, waiting: 0 });
  },
);
