import { expect, it } from "vitest";
import { AdaptiveRate } from "../../src/rate-limiter/adaptive-rate.ts";
import {
  arrivalGraceMs,
  type CountedPermit,
  SlidingWindowLog,
  widenedMs,
} from "../../src/rate-limiter/sliding-window-log.ts";
import { garbageCollector } from "../garbage-collector.ts";

const windows = [
  { limit: 3, intervalMs: 1_000 },
  { limit: 5, intervalMs: 10_000 },
];
const limits = windows.map(({ limit }) => limit);

const one = { isLast: false };

function responded(log: SlidingWindowLog, at: number): void {
  log.release(log.take(one, at), "responded", at);
}

/** Restored permits. */
function permitsAt(...times: number[]): CountedPermit[] {
  return times.map((at) => ({ ...one, takenAt: at, respondedAt: at }));
}

const times = (log: SlidingWindowLog, now: number) => log.permits(now).map(({ respondedAt }) => respondedAt);

it("a window is counted 0.05 % and 5 ms longer, for clocks that are slewed", () => {
  expect(widenedMs(1_000)).toBeCloseTo(1_005.5);
  const log = new SlidingWindowLog(windows);
  for (let call = 0; call < 3; call += 1) responded(log, 0);
  expect(log.available(1_005, limits)).toBe(0);
  expect(log.available(1_006, limits)).toBe(2);
});

it("a permit in flight counts for as long as it is in flight", () => {
  const log = new SlidingWindowLog(windows);
  for (let call = 0; call < 3; call += 1) log.take(one, 0);
  expect(log.available(1e9, limits)).toBe(0);
  expect(log.availableInMs(1e9, limits)[0]).toBeCloseTo(widenedMs(1_000), 3);
});

it("a log may be made of permits that are in flight, and of those that were responded to", () => {
  const log = new SlidingWindowLog(windows, [
    { isLast: true, takenAt: 100, respondedAt: undefined },
    ...permitsAt(50),
  ]);
  expect(log.inFlight).toBe(1);
  expect([log.used(100), log.usedByOthers(100), log.takenByLast(0)]).toEqual([[2, 2], [1, 1], [100]]);
});

it("responses may be reported in any order, and ahead of time", () => {
  const log = new SlidingWindowLog([{ limit: 3, intervalMs: 1_000 }]);
  responded(log, 500);
  responded(log, 100);
  log.release(log.take(one, 600), "lost", 3_000 - arrivalGraceMs);
  expect(times(log, 600)).toEqual([100, 500, 3_000]);
  for (const [at, available] of [
    [100, 1],
    [500, 2],
    [3_000, 3],
  ] as const) {
    expect(log.available(at + widenedMs(1_000) - 1, [3])).toBe(available - 1);
    expect(log.available(at + widenedMs(1_000), [3])).toBe(available);
  }
});

it("a response that is reported late counts only in the windows that still hold its time", () => {
  const log = new SlidingWindowLog(windows);
  responded(log, 3_000);
  expect(log.available(5_000, limits)).toBe(3);
  responded(log, 2_500);
  expect(log.used(5_000)).toEqual([0, 2]);
});

it("the limiting window is the last to have a permit available; there is none if all have one", () => {
  expect(new SlidingWindowLog(windows, permitsAt(0, 0, 0, 0, 0)).limitingWindow(1, 100, limits)).toEqual(
    windows[1],
  );
  expect(new SlidingWindowLog(windows).limitingWindow(1, 0, limits)).toBeUndefined();
});

it("a restored count above a limit has no permit available, and its permits leave in order", () => {
  const log = new SlidingWindowLog([{ limit: 2, intervalMs: 1_000 }], permitsAt(0, 300, 100, 200));
  expect(log.available(500, [2])).toBe(0);
  expect(log.availableInMs(500, [2])[0]).toBeCloseTo(200 + widenedMs(1_000) - 500);
});

it("the log holds no more than the longest window, over any number of calls", () => {
  const log = new SlidingWindowLog([{ limit: 100, intervalMs: 100 }]);
  const collect = garbageCollector();
  collect();
  const before = process.memoryUsage().heapUsed;
  let now = 0;
  for (let call = 0; call < 50_000; call += 1) {
    now += 1;
    responded(log, now);
    log.available(now, [100]);
  }
  expect(log.permits(now)).toHaveLength(106);
  collect();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(300_000);
});

it("after a 429 a part of each limit is in force, except for the longest window, and at least one permit", () => {
  const limitsAt = (share: number) => new AdaptiveRate(windows, { share, pausedUntil: 0 }).limits;
  expect(limitsAt(1 / 2)).toEqual([1, 5]);
  expect(limitsAt(1 / 64)).toEqual([1, 5]);
  expect(limitsAt(1)).toEqual([3, 5]);
});
