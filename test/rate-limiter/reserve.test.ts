import { describe, expect, it } from "vitest";
import { DOCUMENTED_WINDOWS } from "../../src/limits.ts";
import { RateLimiter } from "../../src/rate-limiter/rate-limiter.ts";
import { besideAnImport, sendRows } from "./beside-an-import.ts";
import { refusedBySliding } from "./server-count.ts";
import { idealMs } from "./simulation.ts";
import { VirtualTime } from "./virtual-time.ts";

const hourMs = 3_600_000;
const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

describe("beside an import and the reading of a list, both at priority 9,", () => {
  it.each([
    ["one by one", 1],
    ["in fives", 5],
  ])("no other call waits over two seconds, if 90 an hour come %s", async (_, together) => {
    const callsOfHours = [45, ...Array<number>(5).fill(90)];
    const { waits, rowsOfHours, arrivals } = await besideAnImport({ seed: 7, callsOfHours, together });
    expect(waits).toHaveLength(495);
    expect(Math.max(...waits)).toBeLessThanOrEqual(2_000);
    expect(mean(rowsOfHours)).toBeGreaterThanOrEqual(880);
    expect(refusedBySliding(arrivals, DOCUMENTED_WINDOWS)).toBe(0);
  });

  it("calls whose number rises from 90 to 400 an hour leave within ten seconds", async () => {
    const { waits, rowsOfHours } = await besideAnImport({ seed: 7, callsOfHours: [90, 90, 400, 400] });
    expect(waits.filter((waitMs) => waitMs > 10_000).length).toBeLessThan(waits.length / 100);
    expect(rowsOfHours[3]).toBeGreaterThan(500);
  });

  it("calls wait for minutes where the reserve is 0", async () => {
    const { waits, rowsOfHours } = await besideAnImport({
      seed: 7,
      callsOfHours: [90, 90],
      options: { reserve: 0 },
    });
    expect(waits.filter((waitMs) => waitMs > 2_000).length).toBeGreaterThan(waits.length / 2);
    expect(Math.max(...waits)).toBeGreaterThan(10 * 60_000);
    expect(mean(rowsOfHours)).toBeGreaterThan(900);
  });
});

describe("an import alone", () => {
  it("takes at most a fifth longer than the ideal for 900 rows, and leaves a tenth of the hour", async () => {
    const { lastResponseMs, limiter } = await sendRows(900);
    expect(lastResponseMs / idealMs(900)).toBeLessThan(1.2);
    expect(limiter.usage().windows[2]).toMatchObject({ used: 900, reserve: 100, freeInMs: 0 });
  });

  it("of 901 to 1,000 rows takes an hour", async () => {
    const { lastResponseMs } = await sendRows(1_000);
    expect(lastResponseMs).toBeGreaterThan(hourMs);
    expect(lastResponseMs).toBeLessThan(hourMs + 2 * 60_000);
  });

  it("is as fast as the windows allow with a reserve of 0", async () => {
    const { lastResponseMs } = await sendRows(1_000, { options: { reserve: 0 } });
    expect(lastResponseMs / idealMs(1_000)).toBeLessThan(1.05);
  });

  it("goes on after three 429s in a row, though one permit of a second is left, and twelve of a minute", async () => {
    const { lastResponseMs } = await sendRows(30, {
      before: (limiter, time) => {
        for (const at of [0, 2_000, 4_000]) time.at(at, () => limiter.refused());
      },
    });
    expect(lastResponseMs).toBeLessThan(3 * 60_000);
  });

  it("gets the one permit of a window that has no more", async () => {
    const windows = [{ limit: 1, intervalMs: 1_000 }];
    const { lastResponseMs } = await sendRows(5, { options: { windows, reserve: 0.9 } });
    expect(lastResponseMs).toBeLessThan(6_000);
  });
});

describe("estimateMs", () => {
  it.each([
    [900, 0],
    [2_000, 0],
    [300, 45],
    [2_000, 90],
    [2_000, 300],
  ])("of %i rows beside %i calls an hour is within 3 %% of the time they take", async (rows, others) => {
    const { lastResponseMs, estimatedMs } = await sendRows(rows, { othersPerHour: others });
    expect(Math.abs(estimatedMs / lastResponseMs - 1)).toBeLessThan(0.03);
  });

  it("is longer for priority 9, unless the reserve is 0", () => {
    const limiter = new RateLimiter();
    const minutes = (priority: number, reserve?: number) =>
      Math.round(limiter.estimateMs(1_000, { priority, reserve }) / 60_000);
    expect([minutes(5), minutes(8), minutes(9), minutes(9, 0)]).toEqual([9, 9, 61, 9]);
  });

  it("counts the calls that wait and go before them, and no others", async () => {
    const limiter = new RateLimiter({ clock: () => 0, windows: [{ limit: 1, intervalMs: 1_000 }] });
    await limiter.acquire();
    const { signal, abort } = abortable();
    for (const priority of [9, 9, 9, 5]) limiter.acquire({ priority, signal }).catch(() => undefined);
    const windows = (priority: number) => Math.round(limiter.estimateMs(1, { priority }) / 1_005.5);
    expect([windows(0), windows(5), windows(9)]).toEqual([1, 2, 5]);
    abort();
  });

  it.each([
    [{ priority: 10 }, "priority must be an integer from 0 (first) to 9 (last), not 10."],
    [{ reserve: 1 }, "reserve must be a number from 0 to 0.9, not 1."],
    [{ prio: 9 }, 'The options of estimateMs: there is no option "prio"; the options are priority, reserve.'],
  ])("refuses wrong options (%j)", (options, message) => {
    expect(() => new RateLimiter().estimateMs(1, options as object)).toThrow(message);
  });
});

function abortable() {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}

describe("the reserve", () => {
  /** A limiter with so many calls of priority 5, and then of priority 9, which have had their responses. */
  async function after(others: number, rows: number, options: ConstructorParameters<typeof RateLimiter>[0]) {
    let now = 0;
    const limiter = new RateLimiter({ clock: () => now, ...options });
    for (let call = 0; call < others; call += 1) (await limiter.acquire()).release("responded");
    for (let row = 0; row < rows; row += 1) (await limiter.acquire({ priority: 9 })).release("responded");
    return { limiter, wait: (ms: number) => void (now += ms) };
  }
  const oneWindow = (limit: number, reserve?: number) => ({
    windows: [{ limit, intervalMs: 60_000 }],
    reserve,
  });

  it.each([
    [10, 0, undefined, 1],
    [100, 0, undefined, 10],
    [15, 0, undefined, 2],
    [100, 0, 0.07, 7],
    [100, 0, 0.9, 90],
    [10, 0, 0.95 - 0.05, 9],
    [100, 9, undefined, 10],
    [100, 10, undefined, 11],
    [100, 11, undefined, 13],
    [100, 30, 0.4, 40],
    [100, 95, undefined, 99],
    [1, 0, 0.9, 0],
    [100, 30, 0, 0],
  ])(
    "of a window of %i is, after %i calls and with the option %s, %i: the share, or the demand and a tenth",
    async (limit, others, reserve, expected) => {
      const { limiter } = await after(others, 0, oneWindow(limit, reserve));
      expect(limiter.usage().windows).toMatchObject([{ used: others, reserve: expected }]);
    },
  );

  it("is left by priority 9, and not by the others", async () => {
    const { limiter } = await after(0, 90, oneWindow(100));
    const { signal, abort } = abortable();
    limiter.acquire({ priority: 9, signal }).catch(() => undefined);
    expect(limiter.usage()).toMatchObject({ queued: 1, inFlight: 0 });
    for (let call = 0; call < 10; call += 1) void limiter.acquire({ priority: 8 });
    expect(limiter.usage()).toMatchObject({ queued: 1, inFlight: 10 });
    abort();
  });

  it("is what the others have not used of it yet", async () => {
    const { limiter } = await after(6, 0, oneWindow(100));
    const { signal, abort } = abortable();
    for (let row = 0; row < 10; row += 1) limiter.acquire({ priority: 9, signal }).catch(() => undefined);
    expect(limiter.usage()).toMatchObject({ queued: 0, inFlight: 10 });
    abort();
  });

  it("goes with an even pace while others have called within the longest window: ten permits at a time", async () => {
    const { limiter, wait } = await after(1, 10, oneWindow(100));
    const { signal, abort } = abortable();
    for (let row = 0; row < 2; row += 1) limiter.acquire({ priority: 9, signal }).catch(() => undefined);
    expect(limiter.usage()).toMatchObject({ queued: 2, inFlight: 0 });
    // Ten permits of the ninety in ten ninetieths of the window.
    wait(60_000 / 9 - 1);
    limiter.pause(0);
    expect(limiter.usage()).toMatchObject({ queued: 2 });
    wait(1);
    limiter.pause(0);
    expect(limiter.usage()).toMatchObject({ queued: 0, inFlight: 2 });
    abort();
  });

  it("is of each window, in whatever order they are given; the pace is that of the longest", async () => {
    const windows = [
      { limit: 100, intervalMs: 60_000 },
      { limit: 20, intervalMs: 1_000 },
    ];
    const { limiter, wait } = await after(1, 10, { windows });
    expect(limiter.usage().windows.map(({ reserve }) => reserve)).toEqual([10, 2]);
    await expect(limiter.acquire({ priority: 9, maxWaitMs: 0 })).rejects.toMatchObject({
      window: windows[0],
    });
    wait(60_000 / 9);
    await limiter.acquire({ priority: 9, maxWaitMs: 0 });
  });

  it("holds for a refused call of priority 9 too, which lets the others go first", async () => {
    const { limiter } = await after(0, 90, oneWindow(100));
    const { signal, abort } = abortable();
    limiter.acquire({ priority: 9, isRequeued: true, signal }).catch(() => undefined);
    await limiter.acquire({ priority: 8 });
    expect(limiter.usage().queued).toBe(1);
    abort();
  });

  it("of a call goes before that of the limiter: a call with 0 does not wait behind those that leave room", async () => {
    const { limiter } = await after(0, 90, oneWindow(100));
    const { signal, abort } = abortable();
    limiter.acquire({ priority: 9, signal }).catch(() => undefined);
    await limiter.acquire({ priority: 9, reserve: 0 });
    expect(limiter.usage()).toMatchObject({ queued: 1, inFlight: 1 });
    abort();
  });

  it("is named in the error of a call that would have had a permit without it, with the window", async () => {
    const maxWaitMs = 1_000;
    const { limiter } = await after(0, 90, oneWindow(100));
    await expect(limiter.acquire({ priority: 9, maxWaitMs })).rejects.toMatchObject({
      message:
        "No permit. The wait of 60035 ms is longer than `maxWaitMs`, of the call or its client, or `deadlineMs` allows. It leaves room for other calls: see the option `reserve`.",
      window: { limit: 100 },
    });
    const paced = await after(1, 8, {});
    await expect(paced.limiter.acquire({ priority: 9, maxWaitMs })).rejects.toMatchObject({
      window: { limit: 10 },
    });
    paced.wait(2_000);
    for (let row = 0; row < 2; row += 1) (await paced.limiter.acquire({ priority: 9 })).release("responded");
    paced.wait(2_000);
    await expect(paced.limiter.acquire({ priority: 9, maxWaitMs })).rejects.toMatchObject({
      waitMs: 36_000,
      window: { limit: 1_000 },
    });
  });

  it("tells a call that waits whether it does so for others", async () => {
    const { limiter } = await after(0, 90, oneWindow(100));
    const { signal, abort } = abortable();
    const waits: unknown[] = [];
    const onWait = (wait: unknown) => void waits.push(wait);
    limiter.acquire({ priority: 9, signal, onWait }).catch(() => undefined);
    await Promise.all(Array.from({ length: 10 }, () => limiter.acquire()));
    limiter.acquire({ signal, onWait }).catch(() => undefined);
    await new Promise(setImmediate);
    expect(waits).toEqual([
      { waitMs: expect.closeTo(60_035), isForOthers: true },
      { waitMs: expect.closeTo(60_035), isForOthers: false },
    ]);
    abort();
  });

  it("outlives a restart: the snapshot knows which calls were of priority 9", async () => {
    const { limiter } = await after(30, 10, oneWindow(100));
    const snapshot = limiter.snapshot();
    expect(snapshot.isLast?.filter(Boolean)).toHaveLength(10);
    expect(new RateLimiter({ ...oneWindow(100), snapshot }).usage().windows).toMatchObject([
      { used: 40, reserve: 33 },
    ]);
    const { isLast: _, ...ofAnEarlierVersion } = snapshot;
    const restored = new RateLimiter({ ...oneWindow(100), snapshot: ofAnEarlierVersion });
    expect(restored.usage().windows).toMatchObject([{ used: 40, reserve: 10 }]);
  });
});

it("an import of priority 9 leaves a permit of each second to a call of another priority", async () => {
  const time = new VirtualTime();
  const limiter = new RateLimiter({ clock: time.now });
  const waits: number[] = [];
  await time.run(() => {
    for (let row = 0; row < 5_000; row += 1)
      void limiter
        .acquire({ priority: 9 })
        .then(({ release }) => time.after(100, () => release("responded")));
    for (const at of [990, 3_000])
      time.at(at, () => void limiter.acquire().then(() => waits.push(time.now() - at)));
  }, 5_000);
  expect(waits).toEqual([0, 0]);
});
