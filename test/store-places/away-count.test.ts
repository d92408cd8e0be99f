import { expect, it } from "vitest";
import { DOCUMENTED_WINDOWS } from "../../src/limits.ts";
import { widenedMs } from "../../src/rate-limiter/sliding-window-log.ts";
import { AwayCount } from "../../src/store-places/away-count.ts";

const none = { windows: DOCUMENTED_WINDOWS, share: 1 / 4, now: 0, seenMsAgo: 0, used: [0, 0, 0] };

it("a process that goes on alone uses its share of what was left, one window later its share of the whole", () => {
  const count = new AwayCount({ ...none, used: [0, 60, 60] });
  // 60 used and 10 that others may have sent since: of 30 a quarter, but in the first second nothing.
  expect(count.free(0, 1)).toBe(0);
  expect(count.etaMs(0, 1)).toBeCloseTo(6_005.5);
  expect(count.etaMs(1_000, 1)).toBeCloseTo(5_005.5);
  expect(count.free(6_006, 1)).toBe(2);
  for (let call = 0; call < 7; call += 1) {
    count.take();
    count.answer(6_006);
  }
  expect(count.free(20_000, 1)).toBe(0);
  expect(count.free(66_000, 1)).toBe(2);
});

it("a window that allows nothing yet is waited for no longer than until it does", () => {
  const count = new AwayCount({ ...none, used: [0, 100, 100] });
  const minuteIsOver = widenedMs(60_000) + 5_000;
  expect(count.etaMs(minuteIsOver - 300, 1)).toBeCloseTo(300);
  expect(count.free(minuteIsOver - 1, 1)).toBe(0);
  expect(count.free(minuteIsOver, 1)).toBe(2);
});

it("what others may have sent since the last contact counts as sent", () => {
  const count = new AwayCount({ ...none, seenMsAgo: 2_500 });
  // 2.5 s: at most 30 calls, so of 70 a quarter are left in the first minute.
  for (let call = 0; call < 17; call += 1) {
    expect(count.free(10_000 + call * 2_000, 1)).toBeGreaterThan(0);
    count.take();
    count.answer(10_000 + call * 2_000);
  }
  expect(count.free(46_000, 1)).toBe(0);
});

it("a process that never met its store uses its share of the whole at once", () => {
  const count = new AwayCount({ ...none, seenMsAgo: undefined });
  expect(count.free(0, 1)).toBe(2);
});

it("a share that is no place is told", () => {
  expect(new AwayCount({ ...none, share: 1 / 20 }).isTooSmall).toBe(true);
  expect(new AwayCount(none).isTooSmall).toBe(false);
});

it("the others can have taken their shares of what was left, one window later of the whole", () => {
  const count = new AwayCount({ ...none, used: [0, 60, 60] });
  const secondIsOver = widenedMs(1_000) + 5_000;
  expect(count.leftToOthers(secondIsOver - 1)).toEqual([0, 23, 698]);
  expect(count.leftToOthers(secondIsOver)).toEqual([8, 23, 698]);
});

it("places taken alone are counted, and one that was not used is free again", () => {
  const count = new AwayCount({ ...none, seenMsAgo: undefined });
  count.take();
  expect(count.free(0, 1)).toBe(1);
  count.giveBack();
  expect(count.free(0, 1)).toBe(2);
  count.take();
  expect(count.taken).toBe(2);
});

it("after a refusal it goes at its share of the slower pace, and never stands still", () => {
  const count = new AwayCount({ ...none, seenMsAgo: undefined });
  expect(count.free(0, 1 / 2)).toBe(1);
  expect(count.free(0, 1 / 64)).toBe(1);
});
