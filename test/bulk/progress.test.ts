import { type BulkProgress, RateLimiter, write } from "audience-sdk";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { createFixture, key, row, type Row, rows, upsert } from "./fixture.ts";
import { MemoryCheckpoint } from "./memory-checkpoint.ts";

/** Time passes only where a test advances it; timers run unless they are named. */
function stopTheClock(...timers: ("setTimeout" | "clearTimeout")[]): void {
  vi.useFakeTimers({ toFake: ["Date", "performance", ...timers] });
  // The process has run for some time before the run begins.
  vi.advanceTimersByTime(1_234_567);
}

/** Notes what `onProgress` gets. */
function progressLog() {
  const seen: BulkProgress[] = [];
  return { seen, onProgress: (progress: BulkProgress) => void seen.push(progress) };
}

/** A client with so many permits a minute, and fake timers. */
function limitedFixture(limit: number) {
  stopTheClock("setTimeout", "clearTimeout");
  const rateLimiter = new RateLimiter({ windows: [{ limit, intervalMs: 60_000 }], reserve: 0 });
  return createFixture({}, { rateLimiter });
}

async function passSeconds(seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second++) await vi.advanceTimersByTimeAsync(1_000);
}

describe("onProgress", () => {
  beforeEach(() => stopTheClock());

  it("is reported after each row, with the counts by status and of kept refusals", async () => {
    const { audience } = createFixture();
    const { seen, onProgress } = progressLog();
    const refusal: Row = { ...row(2), email_opt_in: "UNSUBSCRIBED" };

    await audience.bulk([{ ...row(1), email: "nobody" }, row(2), refusal], upsert, {
      concurrency: 1,
      onProgress,
    });

    // Without a limiter there is no estimate.
    expect(Object.keys(seen[0]!)).not.toContain("etaMs");
    const none = { total: 3, failed: 0, unknown: 0, skipped: 0, superseded: 0 };
    expect(seen).toMatchObject([
      { ...none, done: 1, succeeded: 1, invalid: 0, kept: 0 },
      { ...none, done: 2, succeeded: 1, invalid: 1, kept: 0 },
      { ...none, done: 3, succeeded: 2, invalid: 1, kept: 1 },
    ]);
  });

  it("has the total of rows with a length or size, of others the `total` option, and without one no estimate", async () => {
    const { audience } = createFixture({}, { rateLimiter: new RateLimiter() });
    const { seen, onProgress } = progressLog();

    await audience.bulk(rows(1), upsert, { onProgress });
    await audience.bulk(new Set(rows(1)), upsert, { onProgress });
    await audience.bulk(rows(1).values(), upsert, { onProgress, total: 1 });
    await audience.bulk(rows(1).values(), upsert, { onProgress });
    // More rows than it says.
    await audience.bulk(rows(2).values(), upsert, { concurrency: 1, onProgress, total: 1 });

    expect(seen.map(({ total, etaMs }) => [total, etaMs])).toEqual([
      [1, 0],
      [1, 0],
      [1, 0],
      [undefined, undefined],
      [1, 0],
      [1, 0],
    ]);
    expect(Object.keys(seen[3]!).filter((name) => name === "total" || name === "etaMs")).toEqual([]);
  });

  it("has the remaining time of the rows after those in flight, which the limiter counts already", async () => {
    const { audience } = limitedFixture(2);
    const { seen, onProgress } = progressLog();
    const summary = audience.bulk(rows(6), upsert, { concurrency: 2, onProgress }).summary();

    await passSeconds(200);

    // Two leave in each minute. When the third has ended, the fourth is in flight, and two others are left.
    expect(seen.map(({ etaMs }) => Math.round(etaMs! / 60_000))).toEqual([2, 2, 1, 1, 0, 0]);
    expect(await summary).toMatchObject({ succeeded: 6 });
  });

  it("estimates by the share of rows so far that were sent, and by their calls", async () => {
    const { audience } = limitedFixture(10);
    const { seen, onProgress } = progressLog();
    const source = rows(40);
    // Of the first ten every other one is skipped, and the rest make two calls.
    const toWrites = (item: Row, index: number) =>
      index % 2 === 0
        ? []
        : [upsert(item), write.v1.customers.upsert({ email: item.email, first_name: "Ada" })];
    const run = audience.bulk(source.values(), toWrites, { concurrency: 1, total: 40, onProgress }).summary();

    await passSeconds(400);

    // Ten calls for ten rows: thirty further ones are thirty calls, ten each minute.
    expect(seen[9]?.done).toBe(10);
    expect(Math.round(seen[9]!.etaMs! / 60_000)).toBe(3);
    expect(await run).toMatchObject({ skipped: 20, succeeded: 20 });
  });

  it.each(["superseded", "skipped"])("has the pace of the last minute, without %s rows", async (status) => {
    const { mock, audience: probe } = createFixture();
    const { seen, onProgress } = progressLog();
    const options = { key, checkpoint: new MemoryCheckpoint(), concurrency: 1 };
    if (status === "skipped") await probe.bulk(rows(5), upsert, options);
    const isCurrent = ({ email }: Row) => status === "skipped" || Number(/\d+/.exec(email)![0]) >= 5;
    const fetch = async (url: string, init: RequestInit) => {
      vi.advanceTimersByTime(1_000);
      return await mock.fetch(url, init);
    };

    await probe.withOptions({ fetch }).bulk(rows(15), upsert, { ...options, isCurrent, onProgress });

    // One row a second, of those that were sent.
    const sent = Array.from({ length: 10 }, () => 60);
    expect(seen.map(({ ratePerMinute }) => ratePerMinute)).toEqual([0, 0, 0, 0, 0, ...sent]);
    expect(seen.at(-1)).toMatchObject({ done: 15, [status]: 5, succeeded: 10 });
  });

  it.each([
    ["at the pace so far", [10_000, 10_000, 40_000], [6, 6, 3]],
    ["without rows that ended more than a minute ago", [10_000, 10_000, 50_000, 10_000], [6, 6, 2, 2]],
    ["after minutes without an ended row", [10_000, 200_000, 1_000], [6, 1, 2]],
    ["even in the first moment", [0, 500], [60_000, 240]],
  ])("has the rows of a minute %s", async (_, durationsMs, ratesPerMinute) => {
    const { mock, audience: probe } = createFixture();
    const { seen, onProgress } = progressLog();
    let sent = 0;
    const fetch = async (url: string, init: RequestInit) => {
      vi.advanceTimersByTime(durationsMs[sent++]!);
      return await mock.fetch(url, init);
    };
    const source = rows(durationsMs.length);

    const run = probe.withOptions({ fetch }).bulk(source, upsert, { concurrency: 1, onProgress });
    // It counts from its start, not from its creation.
    vi.advanceTimersByTime(5_000);
    const { durationMs } = await run;

    expect(seen.map(({ ratePerMinute }) => ratePerMinute)).toEqual(ratesPerMinute);
    expect(durationMs).toBe(durationsMs.reduce((sum, each) => sum + each));
  });

  it.each<[string, () => unknown]>([
    [
      "throws",
      () => {
        throw new Error("not now");
      },
    ],
    ["rejects", () => Promise.reject(new Error("not now"))],
  ])("that %s does not change the run, and is one line of it", async (_, onProgress) => {
    const lines: string[] = [];
    const { audience } = createFixture({}, { logger: { warn: (line) => lines.push(line) } });

    expect(await audience.bulk(rows(3), upsert, { onProgress })).toMatchObject({ succeeded: 3 });
    expect(lines.filter((line) => line.includes("onProgress"))).toEqual([
      expect.stringContaining("onProgress failed with"),
    ]);
  });
});
