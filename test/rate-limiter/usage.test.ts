import { DOCUMENTED_WINDOWS, RateLimiter } from "audience-sdk";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { garbageCollector } from "../garbage-collector.ts";
import { sendRows } from "./beside-an-import.ts";
import { randomFrom } from "./simulation.ts";
import { type Permit, spend } from "./virtual-time.ts";

it("usage() shows for each window the used permits and the time of the next one, and the length of the queue", async () => {
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
    const permits = times.map((time) => ({ respondedAt: day + time, isLast: true, id: "" }));
    let now = 0;
    const snapshot = { version: 1, takenAt: day, permits, pausedUntil: day, share: 1 } as const;
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
    expect((await send(4_000, 44_000)) - before).toBeLessThan(300_000);
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

  it("is JSON, of the times of the responses", async () => {
    let now = 5;
    const limiter = new RateLimiter({ clock: () => now });
    const of = (calls: number) => ({
      version: 1,
      takenAt: day,
      permits: Array.from({ length: calls }, () => ({ respondedAt: day, isLast: false, id: "" })),
      pausedUntil: day,
      share: 1,
    });
    expect(limiter.snapshot()).toEqual(of(0));
    await spend(limiter, 10);
    expect(limiter.snapshot()).toEqual(of(10));
    // They count no longer.
    now += 4_000_000;
    expect(limiter.snapshot()).toEqual(of(0));
  });

  it.each([
    ["soon", 400, { used: 10, freeInMs: 606 }],
    ["later", 2_000, { used: 0, freeInMs: 0 }],
    [
      "with a clock that was set back, which counts as no time passed",
      -86_400_000,
      { used: 10, freeInMs: 1_006 },
    ],
  ])("keeps the count over a restart %s", async (_, elapsedMs, second) => {
    const limiter = new RateLimiter({ clock: () => 5 });
    await spend(limiter, 10);
    expect(restart(limiter, elapsedMs).usage().windows).toMatchObject([second, { used: 10 }, { used: 10 }]);
  });

  it("of a restarted limiter holds the calls from before and since", async () => {
    const limiter = new RateLimiter({ clock: () => 5 });
    await spend(limiter, 3);
    const restarted = restart(limiter, 0);
    expect(restart(restarted, 0).usage().windows[0]?.used).toBe(3);
    await spend(restarted, 2);
    expect(restart(restarted, 0).usage().windows[0]?.used).toBe(5);
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

  const permit = { respondedAt: day, isLast: false, id: "" };
  const hourMs = 3_600_000;
  it("holds no call for longer than the longest window, whatever times stand in it", () => {
    const respondedAt = day + 365 * 24 * hourMs;
    const permits = Array.from({ length: 1_000 }, () => ({ ...permit, respondedAt }));
    const limiter = (times: object) =>
      new RateLimiter({ clock: () => 5, snapshot: { ...good, ...times } as never });

    expect(limiter({ pausedUntil: respondedAt }).usage().pausedMs).toBe(hourMs);
    // 5 s in which a lost request may arrive, and the hour as it is counted.
    expect(limiter({ permits }).estimateMs(1)).toBeLessThan(hourMs + 5_000 + 2_000);
  });

  const good = { version: 1, takenAt: day, permits: [permit], pausedUntil: day, share: 1 };
  it.each([
    ["snapshot", "text"],
    [
      "snapshot.version must be what `limiter.snapshot()` gives; left out, the count starts empty",
      { ...good, version: 2 },
    ],
    ["snapshot.takenAt", { ...good, takenAt: "today" }],
    ["snapshot.permits[1].respondedAt", { ...good, permits: [permit, { ...permit, respondedAt: null }] }],
    ["snapshot.permits[0].id", { ...good, permits: [{ ...permit, id: 1 }] }],
    ["snapshot.permits[0].isLast", { ...good, permits: [{ ...permit, isLast: "yes" }] }],
    ["snapshot.pausedUntil", { ...good, pausedUntil: "soon" }],
    ["snapshot.share", { ...good, share: 0 }],
    ["snapshot.share", { ...good, share: 2 }],
  ])("refuses garbage, and names the field: %s (%j)", (field, garbage) => {
    const build = () => new RateLimiter({ snapshot: garbage as never }); // on purpose not a snapshot
    const message = expect.stringContaining(field) as string; // a matcher
    expect(build).toThrow(expect.objectContaining({ code: "configuration", message }));
  });
});

type Earlier = NonNullable<NonNullable<Parameters<typeof sendRows>[1]>["earlier"]>;

/** How far the estimate is from the time that so many rows take, as a share of it. */
async function errorOf(...given: Parameters<typeof sendRows>): Promise<number> {
  const { estimatedMs, lastResponseMs } = await sendRows(...given);
  return Math.abs(estimatedMs / lastResponseMs - 1);
}

describe("estimateMs", () => {
  const afterOthers = { priority: 5, earlier: [[80, 0]], beginAt: 70_000 } as const;

  it.each([1, 10, 50, 100, 500, 1_000, 5_000])(
    "is within a fiftieth of the time that %i calls take",
    async (calls) => {
      expect(await errorOf(calls, { ...afterOthers, roundTripMs: () => 200 })).toBeLessThan(0.02);
    },
  );

  it.each([500, 2_500])(
    "is within a fiftieth for %i calls whose responses take 10 to 600 ms",
    async (calls) => {
      for (const seed of [1, 2, 3]) {
        const random = randomFrom(seed);
        const roundTripMs = () => 10 + 590 * random();
        expect(await errorOf(calls, { ...afterOthers, roundTripMs })).toBeLessThan(0.02);
      }
    },
  );

  it("includes the waiting calls and the pause", async () => {
    const limiter = new RateLimiter({ clock: () => 0 });
    await spend(limiter, 10);
    const before = limiter.estimateMs(11);
    void limiter.acquire();
    expect(limiter.estimateMs(10)).toBe(before);
    const idle = new RateLimiter({ clock: () => 0 });
    expect(idle.estimateMs(10)).toBe(0);
    void idle.acquire();
    expect(idle.estimateMs(10)).toBe(1_006);
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
    expect(() => limiter.estimateMs(1, { prio: 9 } as never)).toThrow(/^The options of estimateMs: /);
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
    const expected = Math.round(100 + 1_005.5 + 200);
    expect(limiter.estimateMs(1)).toBe(expected);
    now = 9_000;
    expect(limiter.estimateMs(1)).toBe(expected);
  });

  it("computes a few rounds of the longest window, for any number of calls", () => {
    // A billion calls with 1,000 an hour: computed one by one they would need more memory than there is.
    expect(new RateLimiter().estimateMs(1e9) / 3_600_000).toBeCloseTo(1e6 * 1.0005, -3);
    const windows = [
      { limit: 100, intervalMs: 1_000 },
      { limit: 60, intervalMs: 60_000 },
    ];
    expect(new RateLimiter({ windows }).estimateMs(60_000) / 60_000).toBeCloseTo(1e3 * 1.0005, -1);
    const monthMs = 30 * 86_400_000;
    const ofMonth = [
      { limit: 1, intervalMs: 1_000 },
      { limit: 100_000, intervalMs: monthMs },
    ];
    expect(new RateLimiter({ windows: ofMonth }).estimateMs(1e6) / monthMs).toBeCloseTo(9.04, 1);
  });

  it.each([
    [0, [[5, 0]], 11],
    [0, [[1, 0]], 30],
    [360, [], 30],
    [720, [], 100],
  ] as const)(
    "beside %i calls an hour, and after %j, is within a twentieth of the time that %i rows take in a window under a minute",
    async (othersPerHour, earlier, rows) => {
      const error = await errorOf(rows, {
        othersPerHour,
        earlier,
        beginAt: othersPerHour > 0 ? 7_200_100 : 100,
        roundTripMs: () => 20,
        options: { windows: [{ limit: 100, intervalMs: 50_000 }], reserve: 0.5 },
      });
      expect(error).toBeLessThan(0.05);
    },
  );

  it.each([
    [900, 0],
    [2_000, 0],
    [300, 45],
    [2_000, 90],
    [2_000, 300],
  ])("of %i rows beside %i calls an hour is within 0.03 of the time they take", async (rows, others) => {
    expect(await errorOf(rows, { othersPerHour: others })).toBeLessThan(0.03);
  });

  it.each<[string, Earlier, minutes: number, rows: number]>([
    ["while 700 other calls wait", [[700, 0]], 0, 100],
    ["while 90 other calls wait that have the hour used up", [[1_090, 0]], 10, 20],
    ["while 500 other calls wait that have the hour used up", [[1_500, 0]], 10, 1],
    ["after 300 other calls", [[300, 0]], 10, 500],
    ["after 500 other calls", [[500, 0]], 10, 300],
    ["after 950 other calls", [[950, 0]], 10, 20],
    ["after 950 other calls", [[950, 0]], 10, 200],
    ["after 1,000 other calls", [[1_000, 0]], 10, 1],
    ["after 1,000 other calls", [[1_000, 0]], 10, 50],
    ["after 1,000 other calls", [[1_000, 0]], 10, 3_000],
    [
      "after 30 rows and then 970 other calls",
      [
        [30, 0, 9],
        [970, 0.2],
      ],
      15,
      20,
    ],
    [
      "after 600 rows and then 400 other calls",
      [
        [600, 0, 9],
        [400, 7],
      ],
      15,
      50,
    ],
    [
      "behind 200 rows, after 900 other calls",
      [
        [900, 0],
        [200, 10, 9],
      ],
      11,
      20,
    ],
    [
      "behind 200 rows and 300 other calls",
      [
        [900, 0],
        [200, 10, 9],
        [300, 10.5],
      ],
      11,
      20,
    ],
  ])(
    "%s (%j), at minute %i, is within a twentieth of the time that %i rows take",
    async (_, earlier, minutes, rows) => {
      const beginAt = minutes * 60_000 + 1;
      expect(await errorOf(rows, { earlier, beginAt })).toBeLessThan(0.05);
    },
  );

  it("has an end where the others fill a short window", async () => {
    let now = 0;
    const windows = [
      { limit: 3, intervalMs: 10_000 },
      { limit: 16, intervalMs: 20_000 },
    ];
    const limiter = new RateLimiter({ clock: () => now, windows });
    for (; now < 20_000; now += 3_400) await spend(limiter, 1);
    const slow = await limiter.acquire();
    now += 3_000;
    slow.release("responded");
    expect(limiter.estimateMs(3, { priority: 9 })).toBeLessThan(60_000);
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
