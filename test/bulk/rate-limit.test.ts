import { AudienceClient, RateLimiter, type BulkRequest } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { collectRun, row, rows, createFixture, until, type Row, key } from "./fixture.ts";
import { MemoryCheckpoint } from "./memory-checkpoint.ts";

describe("A row that meets a 429", () => {
  beforeEach(() => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date", "performance"] }));
  afterEach(() => vi.useRealTimers());

  it("goes back into the queue, however often it is refused", async () => {
    const { audience, mock, upsert } = createFixture({ faults: [{ kind: "429", times: 12 }] });
    const summary = audience.bulk(rows(3), upsert, { concurrency: 1 }).summary();

    for (let second = 0; second < 60; second++) await vi.advanceTimersByTimeAsync(1_000);

    expect(await summary).toMatchObject({ total: 3, succeeded: 3 });
    expect(mock.requests).toHaveLength(15);
  });

  it("goes back into the queue although its call has maxRetries 0", async () => {
    const { audience } = createFixture({ faults: [{ kind: "429", times: 7 }] });
    const call = (item: Row, request: BulkRequest) =>
      audience.v1.customers.upsert(item, { ...request, maxRetries: 0 });
    const summary = audience.bulk(rows(1), call).summary();

    for (let second = 0; second < 60; second++) await vi.advanceTimersByTimeAsync(1_000);

    expect(await summary).toMatchObject({ succeeded: 1 });
  });

  it.each(["with a limiter", "without one"])(
    "waits as long as Retry-After says, up to an hour: %s",
    async (how) => {
      const { audience, mock, upsert } = createFixture(
        { faults: [{ kind: "429", times: 1, retryAfter: 3_600 }] },
        how === "with a limiter" ? { rateLimiter: new RateLimiter() } : {},
      );
      const summary = audience.bulk(rows(1), upsert).summary();

      for (let minute = 0; minute < 59; minute++) await vi.advanceTimersByTimeAsync(60_000);
      expect(mock.requests).toHaveLength(1);
      for (let minute = 0; minute < 2; minute++) await vi.advanceTimersByTimeAsync(60_000);

      expect(await summary).toMatchObject({ succeeded: 1 });
      expect(mock.requests).toHaveLength(2);
    },
  );

  it("a wait over an hour ends the run at once, and the row stays unrecorded", async () => {
    vi.useRealTimers();
    const { audience, mock, upsert } = createFixture({
      faults: [{ kind: "429", times: 1, after: 1, retryAfter: 3_601 }],
    });
    const checkpoint = new MemoryCheckpoint();

    const { results, error } = await collectRun(
      audience.bulk(rows(3), upsert, { key, checkpoint, concurrency: 1, stopWhen: () => false }),
    );

    expect(error).toMatchObject({ code: "rate_limit", outcome: "not-applied", retryAfterMs: 3_601_000 });
    expect(results.map(({ status }) => status)).toEqual(["succeeded", "failed"]);
    expect(mock.requests).toHaveLength(2);
    const next = await collectRun(audience.bulk(rows(3), upsert, { key, checkpoint, concurrency: 1 }));
    expect(next.results.map(({ status }) => status)).toEqual(["skipped", "succeeded", "succeeded"]);
  });

  it("waits a second where the response has no Retry-After", async () => {
    const { audience, mock, upsert } = createFixture({
      faults: [{ kind: "429", times: 1, retryAfter: false }],
    });
    const summary = audience.bulk(rows(1), upsert).summary();

    await vi.advanceTimersByTimeAsync(999);
    expect(mock.requests).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(100);

    expect(await summary).toMatchObject({ succeeded: 1 });
    expect(mock.requests).toHaveLength(2);
  });

  it("does not make the row's earlier calls again", async () => {
    const { audience, mock } = createFixture({
      faults: [{ kind: "429", operation: "v1.events.send", times: 9 }],
    });
    const call = async (item: Row, request: BulkRequest) => {
      await audience.v1.customers.upsert({ ...item, double_opt_in: true }, request);
      await audience.v1.events.send({ eventName: "imported", contact: { email: item.email } }, request);
    };
    const summary = audience.bulk(rows(1), call).summary();

    for (let second = 0; second < 60; second++) await vi.advanceTimersByTimeAsync(1_000);

    expect(await summary).toMatchObject({ succeeded: 1 });
    expect(mock.requests.filter(({ operation }) => operation === "v1.customers.upsert")).toHaveLength(1);
    const ids = mock.requests.flatMap(({ body, operation }) =>
      operation === "v1.events.send" ? [(body as { uniqueIdentifier: string }).uniqueIdentifier] : [],
    );
    expect([ids.length, new Set(ids).size]).toEqual([10, 1]);
  });

  it("does not use up the retries of other failures", async () => {
    const { audience } = createFixture({
      faults: [
        { kind: "429", times: 6 },
        { kind: "500-before", times: 4 },
      ],
    });
    const summary = audience
      .bulk(rows(1), (item, request) => audience.v1.customers.upsert(item, request))
      .summary();

    for (let second = 0; second < 200; second++) await vi.advanceTimersByTimeAsync(1_000);

    expect(await summary).toMatchObject({ succeeded: 1 });
  });

  it("is removed at once when the run is aborted", async () => {
    const { audience, upsert } = createFixture({ faults: [{ kind: "429", retryAfter: 3_600 }] });
    const stop = new AbortController();
    const summary = audience.bulk(rows(1), upsert, { signal: stop.signal }).summary();
    const end = summary.catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(1_000);

    stop.abort();

    expect(await end).toMatchObject({ code: "aborted" });
  });
});

it("A row waits while the queue is full, and is sent when there is room", async () => {
  const { audience, upsert } = createFixture(
    {},
    { rateLimiter: { windows: [{ limit: 2, intervalMs: 50 }], maxQueued: 0 } },
  );

  expect(await audience.bulk(rows(4), upsert, { concurrency: 4 }).summary()).toMatchObject({ succeeded: 4 });
});

describe("A row that finds the queue full", () => {
  beforeEach(() => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date", "performance"] }));
  afterEach(() => vi.useRealTimers());

  it.each([
    ["a second, where the estimate is less", 50, 1_000],
    ["the estimated time", 10_000, 10_000],
    ["half a minute, where the estimate is more", 100_000, 30_000],
  ])("tries again after %s", async (_, intervalMs, waitMs) => {
    const waits: (number | undefined)[] = [];
    const { audience, upsert } = createFixture(
      {},
      {
        rateLimiter: { windows: [{ limit: 1, intervalMs }], maxQueued: 0 },
        hooks: { onRetry: (event) => waits.push(event.waitMs) },
      },
    );
    const summary = audience.bulk(rows(2), upsert).summary();
    for (let second = 0; second < 150; second++) await vi.advanceTimersByTimeAsync(1_000);

    expect(await summary).toMatchObject({ succeeded: 2 });
    // The second row begins a few milliseconds after the first.
    expect(waits[0]! / waitMs).toBeCloseTo(1, 2);
  });

  it("fails where its call has a maxWaitMs", async () => {
    const { audience } = createFixture({}, { rateLimiter: { windows: [{ limit: 1, intervalMs: 60_000 }] } });
    const call = (item: Row, request: BulkRequest) =>
      audience.v1.customers.upsert(item, { ...request, maxWaitMs: 100 });
    const ended = collectRun(audience.bulk(rows(2), call, { concurrency: 1 }));
    await vi.advanceTimersByTimeAsync(1_000);

    expect((await ended).results).toMatchObject([
      { status: "succeeded" },
      { status: "failed", error: { code: "rate_limit_wait" } },
    ]);
  });
});

it("A single call gets the next permit during a run", async () => {
  const mock = createMockService();
  const rateLimiter = new RateLimiter({ windows: [{ limit: 1, intervalMs: 40 }] });
  const audience = new AudienceClient({ ...mock.clientOptions, rateLimiter });
  const other = new AudienceClient({ ...mock.clientOptions, rateLimiter });
  const stop = new AbortController();
  const run = audience.bulk(rows(50), (item, request) => audience.v1.customers.upsert(item, request), {
    signal: stop.signal,
  });
  const summary = run.summary().catch(() => undefined);
  await until(() => rateLimiter.usage().queued === 10);
  const before = mock.requests.length;

  const pages = [audience.v1.customers.upsert(row(1_000)), other.v1.customers.upsert(row(1_001))];
  await Promise.all(pages);
  stop.abort();
  await summary;

  const next = mock.requests.slice(before, before + 2).map(({ body }) => (body as Row).email);
  expect(next.toSorted()).toEqual([row(1_000).email, row(1_001).email]);
});
