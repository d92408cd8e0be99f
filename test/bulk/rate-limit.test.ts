import { AudienceClient, type IsRateLimited, RateLimiter, write } from "audience-sdk";
import { createMockService, type MockRateLimitOptions, type MockVariants } from "audience-sdk/mock";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { collectRun, createFixture, key, row, type Row, rows, until, upsert } from "./fixture.ts";
import { MemoryCheckpoint } from "./memory-checkpoint.ts";

describe("A row that meets a 429", () => {
  beforeEach(() => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date", "performance"] }));
  afterEach(() => vi.useRealTimers());

  it("goes back into the queue, however often it is refused", async () => {
    const { audience, mock } = createFixture({ faults: [{ kind: "429", times: 12 }] });
    const summary = audience.bulk(rows(3), upsert, { concurrency: 1 }).summary();

    for (let second = 0; second < 60; second++) await vi.advanceTimersByTimeAsync(1_000);

    expect(await summary).toMatchObject({ total: 3, succeeded: 3 });
    expect(mock.requests).toHaveLength(15);
  });

  it("goes back into the queue although its write has maxRetries 0", async () => {
    const { audience } = createFixture({ faults: [{ kind: "429", times: 7 }] });
    const toWrite = (item: Row) => write.v1.customers.upsert(item, { maxRetries: 0 });
    const summary = audience.bulk(rows(1), toWrite).summary();

    for (let second = 0; second < 60; second++) await vi.advanceTimersByTimeAsync(1_000);

    expect(await summary).toMatchObject({ succeeded: 1 });
  });

  it.each(["with a limiter", "without one"])(
    "waits as long as Retry-After says, up to an hour: %s",
    async (how) => {
      const { audience, mock } = createFixture(
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
    const { audience, mock } = createFixture({
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
    const { audience, mock } = createFixture({
      faults: [{ kind: "429", times: 1, retryAfter: false }],
    });
    const summary = audience.bulk(rows(1), upsert).summary();

    await vi.advanceTimersByTimeAsync(999);
    expect(mock.requests).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(100);

    expect(await summary).toMatchObject({ succeeded: 1 });
    expect(mock.requests).toHaveLength(2);
  });

  it("does not send the row's earlier writes again", async () => {
    const { audience, mock } = createFixture({
      faults: [{ kind: "429", operation: "v1.events.send", times: 9 }],
    });
    const toWrites = (item: Row) => [
      write.v1.customers.upsert({ ...item, double_opt_in: true }),
      write.v1.events.send({ eventName: "imported", contact: { email: item.email } }),
    ];
    const summary = audience.bulk(rows(1), toWrites).summary();

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
    const summary = audience.bulk(rows(1), upsert).summary();

    for (let second = 0; second < 200; second++) await vi.advanceTimersByTimeAsync(1_000);

    expect(await summary).toMatchObject({ succeeded: 1 });
  });

  it("is removed at once when the run is aborted", async () => {
    const { audience } = createFixture({ faults: [{ kind: "429", retryAfter: 3_600 }] });
    const stop = new AbortController();
    const summary = audience.bulk(rows(1), upsert, { signal: stop.signal }).summary();
    const end = summary.catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(1_000);

    stop.abort();

    expect(await end).toMatchObject({ code: "aborted" });
  });
});

it("A row waits while the queue is full, and is sent when there is room", async () => {
  const { audience } = createFixture(
    {},
    { rateLimiter: { windows: [{ limit: 2, intervalMs: 50 }], maxQueued: 0 } },
  );

  expect(await audience.bulk(rows(4), upsert, { concurrency: 4 }).summary()).toMatchObject({ succeeded: 4 });
});

it("The look at a row waits while the queue is full, and is made when there is room", async () => {
  const { audience, mock } = createFixture(
    {},
    { rateLimiter: { windows: [{ limit: 2, intervalMs: 50 }], maxQueued: 0 } },
  );
  const options = { key, checkpoint: new MemoryCheckpoint() };
  await audience.bulk(rows(3), upsert, options);
  const changed = rows(3).map((item) => ({ ...item, city: "Bern" }));

  const summary = await audience.bulk(changed, upsert, options);

  expect(summary).toMatchObject({ succeeded: 3 });
  expect(mock.requests.filter(({ method }) => method === "GET")).toHaveLength(3);
});

it("A single call gets the next permit during a run", async () => {
  const mock = createMockService();
  const rateLimiter = new RateLimiter({ windows: [{ limit: 1, intervalMs: 40 }] });
  const audience = new AudienceClient({ ...mock.clientOptions, rateLimiter });
  const other = new AudienceClient({ ...mock.clientOptions, rateLimiter });
  const stop = new AbortController();
  const run = audience.bulk(rows(50), upsert, { signal: stop.signal });
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

describe("In any dialect of a refusal", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  interface Dialect {
    readonly variants: Partial<MockVariants>;
    readonly retryAfter?: MockRateLimitOptions["retryAfter"];
    readonly isRateLimited?: IsRateLimited;
  }

  const byStatus =
    (...statuses: number[]): IsRateLimited =>
    ({ status }) =>
      statuses.includes(status);

  const count = 30;

  const slowDown = ({ waitMs }: { waitMs: number }) => ({ code: "slow_down", waitMs });
  const byCode: IsRateLimited = ({ body }) => {
    const { code, waitMs } = Object(body) as { code?: string; waitMs?: number };
    return code === "slow_down" && waitMs !== undefined ? { retryAfterMs: waitMs } : false;
  };

  /** The ways in which a service, or a gateway in front of it, may refuse a call for its rate. */
  const dialects: Record<string, Dialect> = {
    "429 with RateLimit-Reset": { variants: { rateLimitHeader: "ratelimit-reset" } },
    "429 without a wait": { variants: {}, retryAfter: false },
    "a bare 503": { variants: { rateLimitStatus: 503 }, retryAfter: false, isRateLimited: byStatus(503) },
    "503 with HTML and Retry-After": {
      variants: { rateLimitStatus: 503, rateLimitBody: "html" },
      isRateLimited: byStatus(503),
    },
    "403 with HTML": {
      variants: { rateLimitStatus: 403, rateLimitBody: "html" },
      retryAfter: false,
      isRateLimited: byStatus(403),
    },
    "400 with a code and a wait": {
      variants: { rateLimitStatus: 400, rateLimitBody: slowDown },
      retryAfter: false,
      isRateLimited: byCode,
    },
    "200 with an error body": {
      variants: { rateLimitStatus: 200, rateLimitBody: slowDown },
      retryAfter: false,
      isRateLimited: byCode,
    },
  };

  /** A run of writes that must not be repeated, beside a stranger who spends the same budget. */
  async function importBeside({ variants, retryAfter = "seconds", isRateLimited }: Dialect) {
    const windows = [
      { limit: 10, intervalMs: 1_000 },
      { limit: 100, intervalMs: 60_000 },
    ];
    const mock = createMockService({ rateLimits: { windows, retryAfter }, variants });
    const audience = new AudienceClient({
      ...mock.clientOptions,
      rateLimiter: new RateLimiter({ windows }),
      isRateLimited,
    });
    const { baseUrl, apiKey } = mock.clientOptions;
    const headers = { "x-api-key": apiKey };
    const send = () => {
      for (let call = 0; call < 4; call++) void mock.fetch(`${baseUrl}/api/v1/contact-groups`, { headers });
    };
    send();
    const stranger = setInterval(send, 950);
    const run = audience.bulk(rows(count), (item) =>
      write.v1.contactGroups.addContact("mock-list", item, { repeatable: false }),
    );
    let isOver = false;
    const isUnderWay = () => !isOver;
    const summary = run.summary().finally(() => (isOver = true));
    for (let second = 0; second < 600 && isUnderWay(); second++) await vi.advanceTimersByTimeAsync(1_000);
    clearInterval(stranger);
    const ours = mock.requests.filter(({ method }) => method === "POST");
    return {
      summary: await summary,
      refusals: ours.filter(({ applied }) => !applied).length,
      contacts: mock.organization("mock-organization").contacts,
    };
  }

  let refusalsByTheService: number;
  beforeEach(async () => {
    // Once: it is the same for every dialect.
    refusalsByTheService ??= (await importBeside({ variants: {} })).refusals;
  });

  it.each(Object.entries(dialects))(
    "A row that is refused by %s waits, and none is lost or in doubt",
    async (_, dialect) => {
      const { summary, refusals, contacts } = await importBeside(dialect);

      expect(summary).toMatchObject({ succeeded: count, failed: 0, unknown: 0 });
      expect(contacts).toHaveLength(count);
      expect(refusals).toBeGreaterThan(0);
      expect(refusals).toBeLessThanOrEqual(1.5 * refusalsByTheService + 5);
    },
  );
});
