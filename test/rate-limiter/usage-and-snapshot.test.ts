import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { DOCUMENTED_WINDOWS } from "../../src/limits.ts";
import { RateLimiter } from "../../src/rate-limiter/rate-limiter.ts";
import type { PermitUse } from "../../src/rate-limiter/sliding-window-log.ts";
import { estimated } from "./estimated.ts";

/** Acquires and releases permits at once; they must be available. */
async function spend(limiter: RateLimiter, calls: number): Promise<void> {
  for (let call = 0; call < calls; call += 1) (await limiter.acquire()).release("responded");
}

describe("usage", () => {
  it("shows for each window the used permits and the time of the next one, and the length of the queue", async () => {
    let now = 0;
    const limiter = new RateLimiter({ clock: () => now, windows: DOCUMENTED_WINDOWS });
    await spend(limiter, 9);
    void limiter.acquire();
    now = 400;
    void limiter.acquire();
    expect(limiter.usage()).toEqual({
      windows: [
        { limit: 10, intervalMs: 1_000, used: 10, reserve: 9, freeInMs: 606 },
        { limit: 100, intervalMs: 60_000, used: 10, reserve: 11, freeInMs: 0 },
        { limit: 1_000, intervalMs: 3_600_000, used: 10, reserve: 100, freeInMs: 0 },
      ],
      queued: 1,
      inFlight: 1,
      pausedMs: 0,
    });
    limiter.refused(2_500);
    expect(limiter.usage().pausedMs).toBe(2_500);
  });
});

describe("estimateMs", () => {
  it.each([1, 10, 50, 100, 500])("is within 2 %% of the time that %i calls take", async (calls) => {
    const { estimatedMs, tookMs } = await estimated(calls, () => 200);
    expect(Math.abs(estimatedMs / tookMs - 1)).toBeLessThan(0.02);
  });

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
    const call = async (durationMs: number, end: PermitUse) => {
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

  it("starts at the present time: it is not shorter a while later", async () => {
    let now = 0;
    const limiter = new RateLimiter({ clock: () => now });
    const permit = await limiter.acquire();
    now = 200;
    permit.release("responded");
    expect(limiter.estimateMs(3)).toBe(200);
    now = 60_000;
    expect(limiter.estimateMs(3)).toBe(200);
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

  it("returns at once for any number of calls", () => {
    const limiter = new RateLimiter();
    const before = performance.now();
    // A billion calls with 1,000 an hour.
    expect(limiter.estimateMs(1e9) / 3_600_000).toBeCloseTo(1e6 * 1.0005, -3);
    expect(performance.now() - before).toBeLessThan(100);
  });
});

describe("snapshot", () => {
  const day = Date.UTC(2026, 10, 21, 12);
  beforeEach(() => void vi.useFakeTimers({ now: day, toFake: ["Date"] }));
  afterEach(() => void vi.useRealTimers());

  /** The limiter of a second process, `elapsedMs` later, with another monotonic clock. */
  function restart(limiter: RateLimiter, elapsedMs: number): RateLimiter {
    vi.setSystemTime(day);
    const snapshot: unknown = JSON.parse(JSON.stringify(limiter.snapshot()));
    vi.setSystemTime(day + elapsedMs);
    return new RateLimiter({ clock: () => 77, snapshot: snapshot as never }); // as read from a file
  }

  it("keeps the count over a restart, as JSON", async () => {
    const limiter = new RateLimiter({ clock: () => 5 });
    await spend(limiter, 10);
    expect(limiter.snapshot()).toEqual({
      version: 1,
      takenAt: day,
      answeredAt: Array(10).fill(day),
      isLast: Array(10).fill(false),
      share: 1,
    });
    expect(restart(limiter, 400).usage().windows[0]).toMatchObject({ used: 10, freeInMs: 606 });
  });

  it("of a restarted limiter holds the calls from before and since", async () => {
    const limiter = new RateLimiter({ clock: () => 5 });
    await spend(limiter, 3);
    const restarted = restart(limiter, 0);
    expect(restart(restarted, 0).usage().windows[0]?.used).toBe(3);
    await spend(restarted, 2);
    expect(restart(restarted, 0).usage().windows[0]?.used).toBe(5);
  });

  it("counts the time in between", async () => {
    const limiter = new RateLimiter({ clock: () => 5 });
    await spend(limiter, 10);
    expect(
      restart(limiter, 2_000)
        .usage()
        .windows.map(({ used }) => used),
    ).toEqual([0, 10, 10]);
  });

  it("counts a clock that was set back as no time passed", async () => {
    const limiter = new RateLimiter({ clock: () => 5 });
    await spend(limiter, 10);
    expect(restart(limiter, -86_400_000).usage().windows[0]).toMatchObject({ used: 10, freeInMs: 1_006 });
  });

  it("counts a request in flight as one that may still arrive for a while", () => {
    const limiter = new RateLimiter({ clock: () => 5 });
    void limiter.acquire();
    expect(restart(limiter, 0).usage().windows[0]).toMatchObject({ used: 1, freeInMs: 0 });
    expect(restart(limiter, 5_900).usage().windows[0]).toMatchObject({ used: 1 });
    expect(restart(limiter, 6_100).usage().windows[0]).toMatchObject({ used: 0 });
  });

  it("keeps a pause and the reduced rate after it", () => {
    const limiter = new RateLimiter({ clock: () => 5 });
    limiter.refused(30_000);
    const restarted = restart(limiter, 10_000);
    expect(restarted.usage().pausedMs).toBe(20_000);
    expect(restarted.snapshot().share).toBe(0.5);
  });

  const good = { version: 1, takenAt: day, answeredAt: [day], share: 1 };
  const hour = 3_600_000;
  it.each([
    { answeredAt: [] },
    { answeredAt: [0, day + hour] },
    { ids: ["a"] },
    { isLast: [true] },
    { pausedUntil: day + hour },
    { share: 1 / 64 },
  ])("is accepted with the smallest and the largest values: %j", (end) => {
    const build = () => new RateLimiter({ snapshot: { ...good, ...end } as never }); // as read from a file
    expect(build).not.toThrow();
  });

  it.each([
    ["snapshot", null],
    ["snapshot", "text"],
    ["snapshot.version", {}],
    ["snapshot.version", { ...good, version: 2 }],
    ["snapshot.takenAt", { ...good, takenAt: "today" }],
    ["snapshot.takenAt", { ...good, takenAt: Number.NaN }],
    ["snapshot.takenAt", { ...good, takenAt: -1 }],
    ["snapshot.takenAt", { ...good, takenAt: Infinity }],
    ["snapshot.answeredAt", { ...good, answeredAt: 3 }],
    ["snapshot.answeredAt", { ...good, answeredAt: [day, null] }],
    ["snapshot.answeredAt", { ...good, answeredAt: [day, -1] }],
    ["snapshot.answeredAt", { ...good, answeredAt: [day + hour + 1] }],
    ["snapshot.ids", { ...good, ids: [] }],
    ["snapshot.ids", { ...good, ids: ["a", "b"] }],
    ["snapshot.ids", { ...good, ids: [1] }],
    ["snapshot.ids", { ...good, ids: "a" }],
    ["snapshot.isLast", { ...good, isLast: [] }],
    ["snapshot.isLast", { ...good, isLast: [true, false] }],
    ["snapshot.isLast", { ...good, isLast: ["yes"] }],
    ["snapshot.isLast", { ...good, isLast: true }],
    ["snapshot.pausedUntil", { ...good, pausedUntil: day + hour + 1 }],
    ["snapshot.pausedUntil", { ...good, pausedUntil: "soon" }],
    ["snapshot.share", { ...good, share: 0 }],
    ["snapshot.share", { ...good, share: -1 }],
    ["snapshot.share", { ...good, share: 2 }],
    ["snapshot.share", { ...good, share: Number.NaN }],
    ["snapshot.share", { ...good, share: "1" }],
  ])("refuses garbage, and names the field: %s (%j)", (field, garbage) => {
    const build = () => new RateLimiter({ snapshot: garbage as never }); // on purpose not a snapshot
    expect(build).toThrow(
      expect.objectContaining({
        code: "configuration",
        message: expect.stringContaining(field),
      }),
    );
  });

  it("of another version says how to start", () => {
    const snapshot = { ...new RateLimiter().snapshot(), version: 2 };

    const build = () => new RateLimiter({ snapshot: snapshot as never }); // as of a later release
    expect(build).toThrow(
      "snapshot.version must be what `limiter.snapshot()` gives; left out, the count starts empty",
    );
  });

  it("has no `pausedUntil` without a pause", () => {
    const limiter = new RateLimiter({ clock: () => 5 });
    limiter.refused(0);
    expect(limiter.snapshot()).toEqual({ version: 1, takenAt: day, answeredAt: [], isLast: [], share: 0.5 });
    expect(restart(limiter, 0).usage().pausedMs).toBe(0);
  });
});
