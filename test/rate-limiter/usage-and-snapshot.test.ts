import { DOCUMENTED_WINDOWS, RateLimiter } from "audience-sdk";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { garbageCollector } from "../garbage-collector.ts";
import { spend } from "./virtual-time.ts";

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

describe("a window", () => {
  const windows = [
    { limit: 3, intervalMs: 1_000 },
    { limit: 5, intervalMs: 10_000 },
  ];
  const day = Date.UTC(2026, 10, 21, 12);
  beforeEach(() => void vi.useFakeTimers({ now: day, toFake: ["Date"] }));
  afterEach(() => void vi.useRealTimers());

  /** A limiter that knows of responses at these times, and how long each window of it is full from a time on. */
  function knowing(limits: typeof windows, ...times: number[]) {
    const answeredAt = times.map((time) => day + time);
    let now = 0;
    const snapshot = { version: 1, takenAt: day, answeredAt, share: 1 } as const;
    const limiter = new RateLimiter({ clock: () => now, windows: limits, snapshot });
    const windowsAt = (time: number) => {
      now = time;
      return limiter.usage().windows;
    };
    return { limiter, windowsAt };
  }

  it("is counted 0.05 % and 5 ms longer, for clocks that are slewed", async () => {
    const { limiter, windowsAt } = knowing(windows);
    await spend(limiter, 3);
    expect(windowsAt(1_005)[0]).toMatchObject({ used: 3, freeInMs: 1 });
    expect(windowsAt(1_006)[0]).toMatchObject({ used: 0, freeInMs: 0 });
  });

  it("counts a permit for as long as it is in flight", async () => {
    const { limiter, windowsAt } = knowing(windows);
    for (let call = 0; call < 3; call += 1) await limiter.acquire();
    expect(windowsAt(1e9)[0]).toMatchObject({ used: 3, freeInMs: 1_006 });
  });

  it("counts responses in the order of their times, in whatever order they are told, also those ahead", () => {
    const { windowsAt } = knowing([{ limit: 3, intervalMs: 1_000 }], 500, 3_000, 100);
    expect([600, 1_105, 1_106, 1_506, 4_006].map((now) => windowsAt(now)[0]!.used)).toEqual([3, 3, 2, 1, 0]);
  });

  it("that is full the longest is named by the error; none is, if all have room", async () => {
    const { limiter } = knowing(windows, 0, 0, 0, 0, 0);
    await expect(limiter.acquire({ maxWaitMs: 0 })).rejects.toMatchObject({ window: windows[1] });
    expect(knowing(windows).windowsAt(0)).toMatchObject([{ freeInMs: 0 }, { freeInMs: 0 }]);
  });

  it("that begins above its limit has room once enough permits have left it, in their order", () => {
    const { windowsAt } = knowing([{ limit: 2, intervalMs: 1_000 }], 0, 300, 100, 200);
    expect(windowsAt(500)[0]).toMatchObject({ used: 4, freeInMs: Math.ceil(200 + 1_005.5 - 500) });
  });

  it("knows no more calls than it counts, over any number of calls", async () => {
    const { limiter, windowsAt } = knowing([{ limit: 100, intervalMs: 100 }]);
    const collect = garbageCollector();
    const send = async (from: number, to: number) => {
      for (let now = from; now < to; now += 2) {
        windowsAt(now);
        await spend(limiter, 1);
      }
      collect();
      return process.memoryUsage().heapUsed;
    };
    const before = await send(0, 4_000);
    const after = await send(4_000, 44_000);
    expect(limiter.snapshot().answeredAt.length).toBeLessThanOrEqual(53);
    expect(after - before).toBeLessThan(300_000);
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
});
