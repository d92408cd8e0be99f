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

/** Two processes behind one store. A refused call gives its place back first: its headers are read before its body. */
function twoProcesses() {
  const time = new VirtualTime();
  const store = new MemoryScripts({ time, delayMs: () => wayMs });
  const process = () => new RateLimiter({ clock: time.now, store: storeOf(store, store), windows });
  const one = process();
  /** A call whose place is given back at once, and after that the 429s, each so much later. */
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

// The answer to a report that had left before the 429 was read ended the matter: nothing else was left to tell.
it("A 429 that is met while the store is being told of its place pauses the other processes too", async () => {
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

it("Of several 429s, one after the other, the longest pause is told, and one halving", async () => {
  const { time, refusedAt, state } = twoProcesses();
  const states: { pausedMs: number; rateFactor: number }[] = [];
  await time.run(() => {
    // The second finds the first report under way, the third the second.
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

it("A 429 that asks for no pause halves the pace of all processes", async () => {
  const { time, refusedAt, state } = twoProcesses();
  const rateFactors: number[] = [];
  await time.run(() => {
    refusedAt(0, [[1, 0]]);
    time.at(500, () => rateFactors.push(state().rateFactor));
  }, 1_000);
  expect(rateFactors).toEqual([1 / 2]);
});

it.each([
  ["its pause over all", 20_000, (pausedMs: number) => pausedMs > 10_000],
  ["its halving, where its pause is over", 1_000, (pausedMs: number) => pausedMs === 0],
])("Of a 429 that is met while the store is away it hears %s", async (_what, retryAfterMs, isPause) => {
  const { time, store, refusedAt, state } = twoProcesses();
  const states: { pausedMs: number; rateFactor: number }[] = [];
  await time.run(() => {
    time.at(1_000, () => (store.network = "refuses"));
    // The sign of life after two seconds has not been heard.
    refusedAt(0, [[2_500, retryAfterMs]]);
    time.at(6_000, () => (store.network = "up"));
    time.at(8_000, () => states.push(state()));
  }, 9_000);
  expect(states).toHaveLength(1);
  expect(states[0]!.rateFactor).toBe(1 / 2);
  expect(isPause(states[0]!.pausedMs)).toBe(true);
});

// What the store said before it had heard of the 429 was taken for its judgement of it.
it("A process that could not tell of its 429 goes on at half its share", async () => {
  const { time, store, one, refusedAt } = twoProcesses();
  const sent: number[] = [];
  await time.run(() => {
    refusedAt(0, [[1, 1_000]]);
    // The report of the place is heard, that of the 429 is not.
    time.at(2 * wayMs + wayMs + 5, () => (store.network = "refuses"));
    time.at(8_000, () => {
      for (let call = 0; call < 4; call += 1) {
        void Promise.resolve(one.acquire()).then(() => sent.push(time.now()));
      }
    });
  }, 8_900);
  // A quarter of 8, and half of that.
  expect(sent).toHaveLength(1);
});
