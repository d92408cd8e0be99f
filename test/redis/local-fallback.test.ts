import { expect, it } from "vitest";
import { DOCUMENTED_WINDOWS } from "../../src/limits.ts";
import { AdaptiveRate } from "../../src/rate-limiter/adaptive-rate.ts";
import { widenedMs } from "../../src/rate-limiter/sliding-window-log.ts";
import { KnownPermits } from "../../src/redis/known-permits.ts";
import { LocalFallback } from "../../src/redis/local-fallback.ts";

interface Situation {
  /** The permits of other processes in each window at the last contact, if there were any, and the time since then. */
  readonly others?: readonly number[];
  readonly seenMsAgo?: number | undefined;
  readonly share?: number;
  /** When this process's own permits were responded to. */
  readonly own?: readonly number[];
}

/** A process that uses the local fallback from 0 on, with the documented windows. */
function alone({ others = [0, 0, 0], seenMsAgo, share = 1 / 4, own: responses = [] }: Situation) {
  const windows = DOCUMENTED_WINDOWS;
  const permits = new KnownPermits({
    windows,
    restored: responses.map((at, index) => [`permit ${index}`, at]),
  });
  const rate = new AdaptiveRate(windows);
  const hasOthers = seenMsAgo !== undefined;
  if (hasOthers) {
    permits.update({ epoch: "one", pausedMs: 0, rateFactor: 1, used: others, others: 1 }, -seenMsAgo);
  }
  const user = { windows, restored: [], rate, clock: () => 0, onChange: () => undefined };
  const fallback = new LocalFallback(user, permits, { share, hasOthers });
  const acquire = (at: number, use: "responded" | "unsent" = "responded"): void => {
    const id = fallback.acquire(at)!; // one is available
    fallback.release(use, at);
    permits.release(id, use, at);
  };
  return { fallback, acquire, rate };
}

it("a process beside others uses its share of the remaining permits, and one window later its share of the limit", () => {
  const { fallback, acquire } = alone({ others: [0, 60, 60], seenMsAgo: 0 });
  // 60 are used and others may have sent 10 since: a quarter of 30, but none in the first second.
  expect(fallback.available(0)).toBe(0);
  expect(fallback.nextAvailableInMs(0)).toBeCloseTo(6_005.5);
  expect(fallback.nextAvailableInMs(1_000)).toBeCloseTo(5_005.5);
  expect(fallback.available(6_006)).toBe(2);
  for (let call = 0; call < 7; call += 1) acquire(6_006 + Math.floor(call / 2) * 1_100);
  expect(fallback.available(20_000)).toBe(0);
  expect(fallback.available(66_000)).toBe(2);
});

it("the wait for a window without a permit ends as soon as it has one", () => {
  const { fallback } = alone({ others: [0, 100, 100], seenMsAgo: 0 });
  const minuteIsOver = widenedMs(60_000) + 5_000;
  expect(fallback.nextAvailableInMs(minuteIsOver - 300)).toBeCloseTo(300);
  expect(fallback.available(minuteIsOver - 1)).toBe(0);
  expect(fallback.available(minuteIsOver)).toBe(2);
});

it("requests that others may have sent since the last contact count as sent", () => {
  const { fallback, acquire } = alone({ seenMsAgo: 2_500 });
  // At most 30 calls in 2.5 s, so a quarter of 70 is left in the first minute.
  for (let call = 0; call < 17; call += 1) {
    expect(fallback.available(10_000 + call * 2_000)).toBeGreaterThan(0);
    acquire(10_000 + call * 2_000);
  }
  expect(fallback.available(46_000)).toBe(0);
});

it("a process without others uses its share at once", () => {
  expect(alone({}).fallback.available(0)).toBe(2);
});

it("earlier permits of the process leave the window one by one, and its share of each becomes available", () => {
  const { fallback } = alone({ own: [-900, -800, -700, -600, -500, -400, -300, -200, -100, 0] });
  expect(fallback.available(0)).toBe(0);
  // Four of ten must have left: a quarter of them is one.
  expect(fallback.nextAvailableInMs(0)).toBeCloseTo(widenedMs(1_000) - 600);
  expect(fallback.available(404)).toBe(0);
  expect(fallback.available(406)).toBe(1);
  expect(fallback.available(806)).toBe(2);
});

it("the wait of a share below one permit is finite", () => {
  const { fallback } = alone({ share: 1 / 20 });
  expect(fallback.available(0)).toBe(0);
  expect(fallback.nextAvailableInMs(0)).toBeLessThan(Infinity);
});

it("the others may acquire their share of the remaining permits, and one window later of the limit", () => {
  const { fallback } = alone({ others: [0, 60, 60], seenMsAgo: 0 });
  const secondIsOver = widenedMs(1_000) + 5_000;
  expect(fallback.leftToOthers(secondIsOver - 1)).toEqual([0, 23, 698]);
  expect(fallback.leftToOthers(secondIsOver)).toEqual([8, 23, 698]);
});

it("a permit of the local fallback counts, and an unsent one is available again", () => {
  const { fallback, acquire } = alone({});
  acquire(0);
  expect(fallback.available(0)).toBe(1);
  acquire(0, "unsent");
  expect(fallback.available(0)).toBe(1);
  expect(fallback.acquired).toBe(2);
});

it("after a 429 the process uses its share of the reduced rate, and at least one permit", () => {
  const { fallback, rate } = alone({});
  rate.factor = 1 / 2;
  expect(fallback.available(0)).toBe(1);
  rate.factor = 1 / 64;
  expect(fallback.available(0)).toBe(1);
});
