import { expect, it } from "vitest";
import { RateLimiter } from "../../src/rate-limiter/rate-limiter.ts";
import { storeOf } from "../../src/redis/redis-store.ts";
import { VirtualTime } from "../rate-limiter/virtual-time.ts";
import { MemoryScripts } from "../redis/memory-scripts.ts";

const wayMs = 10;
const windows = [
  { limit: 8, intervalMs: 1_000 },
  { limit: 1_000, intervalMs: 3_600_000 },
];

/** Two processes with one Redis store. A refused call releases its permit first: its headers are read before its body. */
function twoProcesses() {
  const time = new VirtualTime();
  const store = new MemoryScripts({ time, delayMs: () => wayMs });
  const process = () => new RateLimiter({ clock: time.now, store: storeOf(store, store), windows });
  const one = process();
  /** A call whose permit is released at once, and the 429s after it, each `laterMs` later. */
  const refusedAt = (at: number, refusals: [laterMs: number, retryAfterMs: number][]): void => {
    time.at(at, () => {
      void Promise.resolve(one.acquire()).then((permit) => {
        permit.release("responded");
        for (const [laterMs, retryAfterMs] of refusals) {
          time.after(laterMs, () => one.refused(retryAfterMs));
        }
      });
    });
  };
  const state = () => store.releaseNow({ ...silent, permits: [], succeeded: 0, isReturning: false });
  return { time, store, one, other: process(), refusedAt, state };
}

const silent = { process: "test", windows: [], epoch: undefined, leaseMs: 10_000 };

// The reply to the release of the permit also counted as the reply to the 429, which was then never reported.
it("A 429 during the release of its permit pauses the other processes, too", async () => {
  const { time, store, other, refusedAt, state } = twoProcesses();
  const sent: number[] = [];
  const rateFactors: number[] = [];
  await time.run(() => {
    refusedAt(0, [[1, 3_000]]);
    time.at(600, () => {
      rateFactors.push(state().rateFactor);
      void Promise.resolve(other.acquire()).then(() => sent.push(time.now()));
    });
  }, 10_000);
  expect(rateFactors).toEqual([1 / 2]);
  expect(sent).toHaveLength(1);
  expect(sent[0]).toBeGreaterThan(3_000);
  expect(store.log.slice(0, 3)).toEqual(["acquire", "release", "release"]);
});

it("Several 429s in a row are reported with the longest pause and halve the rate once", async () => {
  const { time, refusedAt, state } = twoProcesses();
  const states: { pausedMs: number; rateFactor: number }[] = [];
  await time.run(() => {
    // The second comes during the report of the first, the third during that of the second.
    refusedAt(0, [
      [1, 1_000],
      [25, 2_000],
      [30, 4_000],
    ]);
    time.at(500, () => states.push(state()));
  }, 2_000);
  expect(states).toHaveLength(1);
  expect(states[0]!.pausedMs).toBeGreaterThan(3_500);
  expect(states[0]!.pausedMs).toBeLessThan(3_600);
  expect(states[0]!.rateFactor).toBe(1 / 2);
});

it("A 429 without a pause halves the rate of all processes", async () => {
  const { time, refusedAt, state } = twoProcesses();
  const rateFactors: number[] = [];
  await time.run(() => {
    refusedAt(0, [[1, 0]]);
    time.at(500, () => rateFactors.push(state().rateFactor));
  }, 1_000);
  expect(rateFactors).toEqual([1 / 2]);
});

it.each([
  ["its pause", 20_000, (pausedMs: number) => pausedMs > 10_000],
  ["its halved rate, if its pause is over", 1_000, (pausedMs: number) => pausedMs === 0],
])("A 429 during an outage of Redis is reported afterwards with %s", async (_what, retryAfterMs, isPause) => {
  const { time, store, refusedAt, state } = twoProcesses();
  const states: { pausedMs: number; rateFactor: number }[] = [];
  await time.run(() => {
    time.at(1_000, () => (store.network = "refuses"));
    // The heartbeat after two seconds has failed.
    refusedAt(0, [[2_500, retryAfterMs]]);
    time.at(6_000, () => (store.network = "up"));
    time.at(8_000, () => states.push(state()));
  }, 9_000);
  expect(states).toHaveLength(1);
  expect(states[0]!.rateFactor).toBe(1 / 2);
  expect(isPause(states[0]!.pausedMs)).toBe(true);
});

// A reply of Redis from before the report of the 429 replaced the halved rate.
it("A process that could not report its 429 uses half its share", async () => {
  const { time, store, one, refusedAt } = twoProcesses();
  const sent: number[] = [];
  await time.run(() => {
    refusedAt(0, [[1, 1_000]]);
    // Redis gets the release of the permit, but not the report of the 429.
    time.at(2 * wayMs + wayMs + 5, () => (store.network = "refuses"));
    time.at(8_000, () => {
      for (let call = 0; call < 4; call += 1) {
        void Promise.resolve(one.acquire()).then(() => sent.push(time.now()));
      }
    });
  }, 8_900);
  // Half of a quarter of 8.
  expect(sent).toHaveLength(1);
});
