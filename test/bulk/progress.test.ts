import { RateLimiter, type BulkProgress } from "audience-sdk";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { key, row, rows, createFixture } from "./fixture.ts";
import { MemoryCheckpoint } from "./memory-checkpoint.ts";

/** Time passes only where a test advances it; timers run unless they are named. */
function stopTheClock(...timers: ("setTimeout" | "clearTimeout")[]): void {
  vi.useFakeTimers({ toFake: ["Date", "performance", ...timers] });
  // The process has run for some time before the run begins.
  vi.advanceTimersByTime(1_234_567);
}

describe("onProgress", () => {
  beforeEach(() => stopTheClock());
  afterEach(() => vi.useRealTimers());

  it("is reported after each row, with the counts by status", async () => {
    const { audience, upsert } = createFixture();
    const seen: BulkProgress[] = [];
    const items = [row(0), { ...row(1), email: "nobody" }, row(2)];

    await audience
      .bulk(items, upsert, { concurrency: 1, onProgress: (progress) => seen.push(progress) })
      .summary();

    expect(Object.keys(seen[0]!)).not.toContain("etaMs");
    const none = { total: 3, failed: 0, unknown: 0, skipped: 0, superseded: 0 };
    expect(seen).toMatchObject([
      { ...none, done: 1, succeeded: 1, invalid: 0 },
      { ...none, done: 2, succeeded: 1, invalid: 1 },
      { ...none, done: 3, succeeded: 2, invalid: 1 },
    ]);
  });

  it("has the total of an array or a set, and of other sources the `total` option", async () => {
    const { audience, upsert } = createFixture();
    const totals: unknown[] = [];
    const onProgress = ({ total, etaMs }: BulkProgress) => totals.push([total, etaMs === undefined]);

    await audience.bulk(rows(1), upsert, { onProgress }).summary();
    await audience.bulk(new Set(rows(1)), upsert, { onProgress }).summary();
    await audience.bulk(rows(1).values(), upsert, { onProgress, total: 7 }).summary();
    await audience.bulk(rows(1).values(), upsert, { onProgress }).summary();

    // Without a limiter there is no estimate.
    expect(totals).toEqual([
      [1, true],
      [1, true],
      [7, true],
      [undefined, true],
    ]);
  });

  it("has neither a total nor a remaining time where the number of rows is not known", async () => {
    const { audience, upsert } = createFixture({}, { rateLimiter: new RateLimiter() });
    const seen: BulkProgress[] = [];

    await audience.bulk(rows(1).values(), upsert, { onProgress: (progress) => seen.push(progress) });

    expect(Object.keys(seen[0]!).filter((name) => name === "total" || name === "etaMs")).toEqual([]);
  });

  it("has the remaining time of the rows after those in flight, which the limiter counts already", async () => {
    stopTheClock("setTimeout", "clearTimeout");
    const limiter = new RateLimiter({ windows: [{ limit: 2, intervalMs: 60_000 }], reserve: 0 });
    const { audience, upsert } = createFixture({}, { rateLimiter: limiter });
    const seen: BulkProgress[] = [];
    const onProgress = (progress: BulkProgress) => seen.push(progress);
    const summary = audience.bulk(rows(6), upsert, { concurrency: 2, onProgress }).summary();

    for (let second = 0; second < 200; second++) await vi.advanceTimersByTimeAsync(1_000);

    // Two leave in each minute. When the third has ended, the fourth is in flight, and two others are left.
    expect(seen.map(({ etaMs }) => Math.round(etaMs! / 60_000))).toEqual([2, 2, 1, 1, 0, 0]);
    expect(await summary).toMatchObject({ succeeded: 6 });
  });

  it("estimates the end as the limiter does, and counts rows in flight once", async () => {
    stopTheClock("setTimeout", "clearTimeout");
    const limiter = new RateLimiter({ windows: [{ limit: 10, intervalMs: 60_000 }], reserve: 0 });
    const { audience, upsert } = createFixture({}, { rateLimiter: limiter });
    const seen: BulkProgress[] = [];
    const summary = audience
      .bulk(rows(30), upsert, { concurrency: 5, onProgress: (progress) => seen.push(progress) })
      .summary();

    await vi.advanceTimersByTimeAsync(1_000);
    expect(seen).toHaveLength(10);
    // Twenty more: ten after one minute, ten after two.
    expect(seen[9]?.etaMs).toBeGreaterThan(119_000);
    expect(seen[9]?.etaMs).toBeLessThan(121_500);
    for (let second = 0; second < 130; second++) await vi.advanceTimersByTimeAsync(1_000);

    await summary;
    expect(seen[29]?.etaMs).toBe(0);
  });

  it("has the pace of the last minute, without superseded rows", async () => {
    const { audience, upsert } = createFixture();
    const seen: BulkProgress[] = [];

    await audience.bulk(rows(2), upsert, {
      isCurrent: () => false,
      onProgress: (progress) => seen.push(progress),
    });

    expect(seen.map(({ ratePerMinute }) => ratePerMinute)).toEqual([0, 0]);
  });

  it("has the pace of the last minute, without skipped rows", async () => {
    const { audience } = createFixture();
    const options = { key, checkpoint: new MemoryCheckpoint(), concurrency: 1 };
    await audience.bulk(rows(50), async () => null, options);
    const seen: BulkProgress[] = [];

    await audience.bulk(rows(150), async () => void vi.advanceTimersByTime(1_000), {
      ...options,
      onProgress: (progress) => seen.push(progress),
    });

    // One row a second.
    expect(seen.map(({ ratePerMinute }) => ratePerMinute)).toEqual([
      ...new Array<number>(50).fill(0),
      ...new Array<number>(100).fill(60),
    ]);
    expect(seen.at(-1)).toMatchObject({ done: 150, skipped: 50, succeeded: 100 });
  });

  it.each([
    ["at the pace so far", [10_000, 10_000, 40_000], [6, 6, 3]],
    ["without rows that ended more than a minute ago", [10_000, 10_000, 50_000, 10_000], [6, 6, 2, 2]],
    ["after minutes without an ended row", [10_000, 200_000, 1_000], [6, 1, 2]],
    ["even in the first moment", [0, 500], [60_000, 240]],
  ])("has the rows of a minute %s", async (_, durationsMs, ratesPerMinute) => {
    const { audience } = createFixture();
    const seen: number[] = [];
    const run = audience.bulk(durationsMs, async (durationMs) => void vi.advanceTimersByTime(durationMs), {
      concurrency: 1,
      onProgress: ({ ratePerMinute }) => seen.push(ratePerMinute),
    });

    const { durationMs } = await run.summary();

    expect(seen).toEqual(ratesPerMinute);
    expect(durationMs).toBe(durationsMs.reduce((sum, each) => sum + each));
  });

  it("has no remaining time where more rows came than `total`", async () => {
    const { audience, upsert } = createFixture({}, { rateLimiter: new RateLimiter() });
    const seen: unknown[] = [];
    const onProgress = ({ done, total, etaMs }: BulkProgress) => seen.push([done, total, etaMs]);

    await audience.bulk(rows(3).values(), upsert, { concurrency: 1, total: 1, onProgress }).summary();

    expect(seen).toEqual([
      [1, 1, 0],
      [2, 1, 0],
      [3, 1, 0],
    ]);
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("not now");
      },
    ],
    ["rejects", () => Promise.reject(new Error("not now"))],
  ])("that %s does not change the run, and is one line of it", async (_, onProgress) => {
    const lines: string[] = [];
    const { audience, upsert } = createFixture({}, { logger: { warn: (line) => lines.push(line) } });
    // The types do not allow a promise; JavaScript does.
    const options = { onProgress: onProgress as () => void };

    expect(await audience.bulk(rows(3), upsert, options).summary()).toMatchObject({ succeeded: 3 });
    expect(lines).toEqual([expect.stringContaining("onProgress failed with")]);
  });
});

it("The duration counts from the start of the run, not from its creation", async () => {
  const { audience, upsert } = createFixture();
  const run = audience.bulk(rows(1), upsert);
  await new Promise((resolve) => setTimeout(resolve, 50));
  const startedAt = performance.now();

  const { durationMs } = await run.summary();

  expect(durationMs).toBeLessThanOrEqual(performance.now() - startedAt);
});

it("A run whose limiter cannot estimate its rest rejects with that error", async () => {
  const rateLimiter = new RateLimiter();
  const { audience, upsert } = createFixture({}, { rateLimiter });
  vi.spyOn(rateLimiter, "estimateMs").mockImplementation(() => {
    throw new Error("no estimate");
  });

  const run = audience.bulk(rows(3), upsert, { onProgress: () => undefined });

  await expect(run.summary()).rejects.toThrow("no estimate");
});
