import { expect, it } from "vitest";
import { widened, Windows } from "../../src/rate-limiter/windows.ts";

const windows = [
  { limit: 3, intervalMs: 1_000 },
  { limit: 5, intervalMs: 10_000 },
];

function answered(count: Windows, at: number): void {
  count.take();
  count.answer(at);
}

it("a window is counted 0.05 % and 5 ms longer, for clocks that are slewed", () => {
  expect(widened(1_000)).toBeCloseTo(1_005.5);
  const count = new Windows(windows);
  for (let call = 0; call < 3; call += 1) answered(count, 0);
  expect(count.free(1_005)).toBe(0);
  expect(count.free(1_006)).toBe(2);
});

it("what is in flight counts, however long", () => {
  const count = new Windows(windows);
  for (let call = 0; call < 3; call += 1) count.take();
  expect(count.free(1e9)).toBe(0);
  expect(count.eta(1, 1e9)).toBeCloseTo(widened(1_000), 3);
});

it("answers may come in any order, and ahead of time", () => {
  const count = new Windows([{ limit: 3, intervalMs: 1_000 }]);
  answered(count, 500);
  answered(count, 100);
  answered(count, 3_000);
  expect(count.answeredAt(600)).toEqual([100, 500, 3_000]);
  expect(count.eta(1, 600)).toBeCloseTo(100 + widened(1_000) - 600);
  expect(count.eta(3, 600)).toBeCloseTo(3_000 + widened(1_000) - 600);
});

it("an answer told late counts where it still counts, and not where it no longer does", () => {
  const count = new Windows(windows);
  answered(count, 3_000);
  expect(count.free(5_000)).toBe(3);
  answered(count, 2_500);
  expect(count.usage(5_000).map(({ used }) => used)).toEqual([0, 2]);
});

it("the fullest window is the one that is the last to have room", () => {
  const count = new Windows(windows, [0, 0, 0, 0, 0]);
  expect(count.fullest(1, 100)).toEqual({ limit: 5, intervalMs: 10_000 });
});

it("a restored count that holds more than a limit has no place free, and comes back in order", () => {
  const count = new Windows([{ limit: 2, intervalMs: 1_000 }], [0, 300, 100, 200]);
  expect(count.free(500)).toBe(0);
  expect(count.eta(1, 500)).toBeCloseTo(200 + widened(1_000) - 500);
});

it("the log holds no more than the longest window, over any number of calls", () => {
  const count = new Windows([{ limit: 1_000, intervalMs: 1_000 }]);
  let now = 0;
  for (let call = 0; call < 1_000_000; call += 1) {
    now += 1;
    answered(count, now);
    count.free(now);
  }
  expect(count.answeredAt(now)).toHaveLength(1_006);
  expect(count.entriesKept).toBeLessThan(4_000);
});

it("of windows that are full equally long, the first is the fullest", () => {
  const count = new Windows(windows);
  expect(count.fullest(1, 0)).toEqual(windows[0]);
});

it("a slower pace is a share of each limit but the longest window's, and at least one place", () => {
  const count = new Windows(windows);
  count.shrink(1 / 2);
  expect(count.free(0)).toBe(1);
  count.shrink(1 / 64);
  expect(count.free(0)).toBe(1);
  count.shrink(1);
  expect(count.free(0)).toBe(3);
});
