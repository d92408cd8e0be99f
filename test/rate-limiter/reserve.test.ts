import { DOCUMENTED_WINDOWS, RateLimiter } from "audience-sdk";
import { describe, expect, it, onTestFinished } from "vitest";
import { timesOf } from "../properties/runs.ts";
import { besideAnImport, sendRows } from "./beside-an-import.ts";
import { idealMs, refusedBySliding } from "./simulation.ts";
import type { PermitRequest } from "./virtual-time.ts";

const hourMs = 3_600_000;
const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

describe("beside an import and the reading of a list, both at priority 9,", () => {
  it.each([
    ["one by one", 1],
    ["in fives", 5],
  ])(
    "no other call waits over two seconds, if 90 an hour come %s and keep to a tenth of each window",
    async (_, together) => {
      const hours = timesOf(111, 5);
      const callsOfHours = [45, ...Array<number>(hours).fill(90)];
      const { waits, isWithinATenth, rowsOfHours, arrivals } = await besideAnImport({
        seed: 38,
        callsOfHours,
        together,
      });
      const late = waits.flatMap((waitMs, call) => (waitMs > 2_000 ? [isWithinATenth[call]] : []));
      expect(waits).toHaveLength(45 + 90 * hours);
      expect(late.filter(Boolean)).toEqual([]);
      // Such as twenty calls in one minute.
      expect(late.length).toBeLessThanOrEqual(hours / 11);
      expect(Math.max(...waits)).toBeLessThan(15_000);
      expect(mean(rowsOfHours)).toBeGreaterThanOrEqual(880);
      expect(refusedBySliding(arrivals, DOCUMENTED_WINDOWS)).toBe(0);
    },
  );

  it("calls whose number rises from 90 to 400 an hour leave within ten seconds", async () => {
    const { waits, rowsOfHours } = await besideAnImport({ seed: 7, callsOfHours: [90, 90, 400, 400] });
    expect(waits.filter((waitMs) => waitMs > 10_000).length).toBeLessThan(waits.length / 100);
    expect(rowsOfHours[3]).toBeGreaterThan(500);
  });
});

it("30 rows after one call of the process take no longer than without it", async () => {
  const alone = await sendRows(30);
  const after = await sendRows(30, {
    before: (limiter) => void limiter.acquire().then((permit) => permit.release("responded")),
  });
  expect(after.lastResponseMs - alone.lastResponseMs).toBeLessThan(1_100);
});

it("rows go on when what the other calls used, and what they used themselves, leaves a short window", async () => {
  const windows = [{ limit: 20, intervalMs: 10_000 }];
  const { lastResponseMs } = await sendRows(11, {
    earlier: [[5, 0]],
    beginAt: 100,
    roundTripMs: () => 20,
    options: { windows, reserve: 0.5 },
  });
  expect(lastResponseMs).toBeLessThan(10_100);
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

describe("the reserve", () => {
  /** A limiter with so many calls of priority 5, and then of priority 9, which have had their responses. */
  async function after(others: number, rows: number, options: ConstructorParameters<typeof RateLimiter>[0]) {
    let now = 0;
    const limiter = new RateLimiter({ clock: () => now, ...options });
    for (let call = 0; call < others; call += 1) (await limiter.acquire()).release("responded");
    for (let row = 0; row < rows; row += 1) (await limiter.acquire({ priority: 9 })).release("responded");
    const end = new AbortController();
    onTestFinished(() => end.abort());
    /** More calls, of priority 9 unless `request` says otherwise: those that wait do so until the test ends. */
    const ask = (calls: number, request: PermitRequest = {}): void => {
      for (let call = 0; call < calls; call += 1)
        limiter.acquire({ priority: 9, signal: end.signal, ...request }).catch(() => undefined);
    };
    return { limiter, ask, wait: (ms: number) => void (now += ms) };
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

  it("is left by priority 9, by a refused call of it too, and not by the others", async () => {
    const { limiter, ask } = await after(0, 90, oneWindow(100));
    ask(1);
    ask(1, { isRequeued: true });
    expect(limiter.usage()).toMatchObject({ queued: 2, inFlight: 0 });
    ask(10, { priority: 8 });
    expect(limiter.usage()).toMatchObject({ queued: 2, inFlight: 10 });
  });

  it.each([
    ["leaves what the others have not used of it yet", 6, 0, 10, 10],
    [
      "goes at once, while others have called within the longest window, to the half of what it may",
      1,
      0,
      90,
      45,
    ],
    ["and from the half on no further at once", 1, 45, 90, 0],
  ])("%s", async (_, others, rows, calls, together) => {
    const { limiter, ask } = await after(others, rows, oneWindow(100));
    ask(calls);
    expect(limiter.usage()).toMatchObject({ inFlight: together });
  });

  it("counts for the half no call of another priority that is in flight", async () => {
    const { limiter, ask } = await after(0, 0, oneWindow(100));
    ask(1, { priority: 5 });
    ask(90);
    expect(limiter.usage()).toMatchObject({ inFlight: 46 });
  });

  it("lets the second half of it go evenly over the rest of the longest window", async () => {
    const { limiter, ask, wait } = await after(1, 45, oneWindow(100));
    const leftIn: number[] = [];
    ask(45);
    for (let second = 1; second < 60; second += 1) {
      wait(1_000);
      const before = limiter.usage().inFlight;
      limiter.pause(0);
      if (limiter.usage().inFlight > before) leftIn.push(second);
    }
    // Ten of the 45 each eleven seconds: the last ones leave just before the first half comes back.
    expect(leftIn).toEqual([11, 22, 33, 43, 55]);
    expect(limiter.usage()).toMatchObject({ queued: 0 });
  });

  it("gives the turn of a call that was not sent to the next one", async () => {
    const { limiter, ask, wait } = await after(1, 45, oneWindow(100));
    wait(20_000);
    const acquire = () => limiter.acquire({ priority: 9 });
    const permits = await Promise.all(Array.from({ length: 10 }, acquire));
    ask(2);
    expect(limiter.usage()).toMatchObject({ queued: 2, inFlight: 10 });
    permits[9]?.release("unsent");
    expect(limiter.usage()).toMatchObject({ queued: 1, inFlight: 10 });
  });

  it("is of each window, in whatever order they are given; the pace is that of the longest", async () => {
    const windows = [
      { limit: 100, intervalMs: 60_000 },
      { limit: 60, intervalMs: 1_000 },
    ];
    const { limiter, wait } = await after(1, 45, { windows });
    expect(limiter.usage().windows.map(({ reserve }) => reserve)).toEqual([6, 10]);
    wait(1_100);
    await expect(limiter.acquire({ priority: 9, maxWaitMs: 0 })).rejects.toMatchObject({
      window: windows[0],
    });
    wait(15_000);
    await limiter.acquire({ priority: 9, maxWaitMs: 0 });
  });

  it("is named in the error of a call that would have had a permit without it, with the window", async () => {
    const maxWaitMs = 1_000;
    const { limiter } = await after(0, 90, oneWindow(100));
    await expect(limiter.acquire({ priority: 9, maxWaitMs })).rejects.toMatchObject({
      message:
        "No permit. The wait of 60035 ms is longer than `maxWaitMs` or `deadlineMs` allows (a call's, or its client's). It leaves room for other calls: see the option `reserve`.",
      window: { limit: 100 },
    });
    const paced = await after(1, 45, oneWindow(100));
    await expect(paced.limiter.acquire({ priority: 9, maxWaitMs })).rejects.toMatchObject({
      window: { limit: 100 },
    });
  });

  it.each([
    ["after nine calls of priority 9 beside another one", 1, 9, 0],
    ["behind eleven that wait", 0, 0, 11],
  ])(
    "names no window to a call that waits for the end of a pause alone: %s",
    async (_, others, rows, queued) => {
      const { limiter, ask } = await after(others, rows, oneWindow(100));
      limiter.pause(30_000);
      ask(queued);
      const refused = limiter.acquire({ priority: 9, maxWaitMs: 0 });
      const error: unknown = await refused.catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ waitMs: 30_000 });
      expect(error).not.toHaveProperty("window");
    },
  );

  it("tells a call that waits whether it does so for others", async () => {
    const { limiter, ask } = await after(0, 90, oneWindow(100));
    const waits: unknown[] = [];
    const onWait = (wait: unknown) => void waits.push(wait);
    ask(1, { onWait });
    await Promise.all(Array.from({ length: 10 }, () => limiter.acquire()));
    ask(1, { priority: 5, onWait });
    (await after(100, 0, oneWindow(100, 0))).ask(1, { onWait });
    await new Promise(setImmediate);
    expect(waits).toEqual([
      { waitMs: expect.closeTo(60_035), isForOthers: true },
      { waitMs: expect.closeTo(60_035), isForOthers: false },
      { waitMs: expect.closeTo(60_035), isForOthers: false },
    ]);
  });

  it("outlives a restart: the snapshot knows which calls were of priority 9", async () => {
    const { limiter } = await after(30, 10, oneWindow(100));
    const snapshot = limiter.snapshot();
    expect(snapshot.permits.filter(({ isLast }) => isLast)).toHaveLength(10);
    expect(new RateLimiter({ ...oneWindow(100), snapshot }).usage().windows).toMatchObject([
      { used: 40, reserve: 33 },
    ]);
  });
});
