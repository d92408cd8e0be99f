import { RateLimiter } from "audience-sdk";
import { describe, expect, it } from "vitest";
import { sendRows } from "./beside-an-import.ts";
import { randomFrom } from "./simulation.ts";
import { type Permit, spend, VirtualTime } from "./virtual-time.ts";

/** Warms a limiter up with 80 calls, then sends `calls` more: the estimate and the real time. */
async function estimated(
  calls: number,
  roundTripMs: () => number,
): Promise<{ estimatedMs: number; tookMs: number }> {
  const time = new VirtualTime();
  const limiter = new RateLimiter({ clock: time.now });
  const begin = 70_000;
  let [estimatedMs, tookMs] = [0, 0];
  const send = (permit: Permit): void => {
    time.after(roundTripMs(), () => {
      permit.release("responded");
      tookMs = time.now() - begin;
    });
  };
  const call = (): void => {
    void limiter.acquire().then(send);
  };
  await time.run(() => {
    for (let index = 0; index < 80; index += 1) call();
    time.at(begin, () => {
      estimatedMs = limiter.estimateMs(calls);
      for (let index = 0; index < calls; index += 1) call();
    });
  });
  return { estimatedMs, tookMs };
}

describe("estimateMs", () => {
  it.each([1, 10, 50, 100, 500, 1_000, 5_000])(
    "is within a fiftieth of the time that %i calls take",
    async (calls) => {
      const { estimatedMs, tookMs } = await estimated(calls, () => 200);
      expect(Math.abs(estimatedMs / tookMs - 1)).toBeLessThan(0.02);
    },
  );

  it.each([500, 2_500])(
    "is within a fiftieth for %i calls whose responses take 10 to 600 ms",
    async (calls) => {
      for (const seed of [1, 2, 3]) {
        const random = randomFrom(seed);
        const { estimatedMs, tookMs } = await estimated(calls, () => 10 + 590 * random());
        expect(Math.abs(estimatedMs / tookMs - 1)).toBeLessThan(0.02);
      }
    },
  );

  it("includes the waiting calls and the pause", async () => {
    const limiter = new RateLimiter({ clock: () => 0 });
    await spend(limiter, 10);
    const before = limiter.estimateMs(11);
    void limiter.acquire();
    expect(limiter.estimateMs(10)).toBe(before);
    limiter.refused(100_000);
    expect(limiter.estimateMs(10)).toBeGreaterThan(100_000);
  });

  it("is 0 for no call on an idle limiter, and refuses an invalid number of calls", () => {
    const limiter = new RateLimiter();
    expect(limiter.estimateMs(0)).toBe(0);
    for (const wrong of [-1, 1.5, Number.NaN, Infinity]) {
      expect(() => limiter.estimateMs(wrong)).toThrow(expect.objectContaining({ code: "configuration" }));
    }
    expect(() => limiter.estimateMs(-1)).toThrow("The number of calls of estimateMs must be");
  });

  it("uses the mean time from a permit to its response, without the unsent and lost calls", async () => {
    let now = 0;
    const limiter = new RateLimiter({ clock: () => now });
    const call = async (durationMs: number, end: Parameters<Permit["release"]>[0]) => {
      const permit = await limiter.acquire();
      now += durationMs;
      permit.release(end);
    };
    await call(100, "responded");
    await call(200, "responded");
    await call(600, "responded");
    expect(limiter.estimateMs(1)).toBe(300);
    await call(9_000, "unsent");
    await call(9_000, "lost");
    expect(limiter.estimateMs(1)).toBe(300);
  });

  it("expects a response to a request in flight after half a round trip", async () => {
    let now = 0;
    const limiter = new RateLimiter({ clock: () => now, windows: [{ limit: 1, intervalMs: 1_000 }] });
    const permit = await limiter.acquire();
    now = 200;
    permit.release("responded");
    now = 5_000;
    void limiter.acquire();
    // Half a round trip, the widened window, and the round trip of the next call.
    expect(limiter.estimateMs(1)).toBe(Math.round(100 + 1_005.5 + 200));
  });

  it("computes a few rounds of the largest limit, for any number of calls", () => {
    // A billion calls with 1,000 an hour: computed one by one they would need more memory than there is.
    expect(new RateLimiter().estimateMs(1e9) / 3_600_000).toBeCloseTo(1e6 * 1.0005, -3);
  });

  it.each([
    [900, 0],
    [2_000, 0],
    [300, 45],
    [2_000, 90],
    [2_000, 300],
  ])("of %i rows beside %i calls an hour is within 0.03 of the time they take", async (rows, others) => {
    const { lastResponseMs, estimatedMs } = await sendRows(rows, { othersPerHour: others });
    expect(Math.abs(estimatedMs / lastResponseMs - 1)).toBeLessThan(0.03);
  });

  it("is longer for priority 9, unless the reserve is 0", () => {
    const minutes = (priority: number, reserve?: number) =>
      Math.round(new RateLimiter({ reserve }).estimateMs(1_000, { priority }) / 60_000);
    expect([minutes(5), minutes(8), minutes(9), minutes(9, 0)]).toEqual([9, 9, 61, 9]);
  });

  it("counts the calls that wait and go before them, and no others", async () => {
    const limiter = new RateLimiter({ clock: () => 0, windows: [{ limit: 1, intervalMs: 1_000 }] });
    await limiter.acquire();
    const controller = new AbortController();
    const { signal } = controller;
    for (const priority of [9, 9, 9, 5]) limiter.acquire({ priority, signal }).catch(() => undefined);
    const windows = (priority: number) => Math.round(limiter.estimateMs(1, { priority }) / 1_005.5);
    expect([windows(0), windows(5), windows(9)]).toEqual([1, 2, 5]);
    controller.abort();
  });
});
