import { AudienceClient, type BulkProgress, type IsRateLimited, RateLimiter, write } from "audience-sdk";
import { type MockRateLimitOptions, type MockVariants, createMockService } from "audience-sdk/mock";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { VirtualTime } from "../rate-limiter/virtual-time.ts";
import {
  type Row,
  collectRun,
  createFixture,
  key,
  passUntil,
  passUntilSettled,
  row,
  rows,
  until,
  upsert,
  useFakeTime,
} from "./fixture.ts";
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

it("A row, and the look at it, wait while the queue is full, and leave when there is room", async () => {
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

const tenAMinute = [{ limit: 10, intervalMs: 60_000 }];

/** A client of the mock in virtual time, whose requests are logged with the second in which they arrive. */
function start(clientOptions: ConstructorParameters<typeof AudienceClient>[0] = {}, reserve?: number) {
  const time = new VirtualTime();
  const rateLimiter = new RateLimiter({ clock: time.now, windows: tenAMinute, reserve });
  const lines: string[] = [];
  const throttled: (number | undefined)[] = [];
  const sentAt: number[] = [];
  const { mock, audience } = createFixture(
    {},
    {
      rateLimiter,
      fetch: (url, init) => {
        sentAt.push(time.now());
        return mock.fetch(url, init);
      },
      logger: { warn: (line) => void lines.push(line.replace(/.*\(request [^)]*\) /, "")) },
      hooks: { onThrottle: ({ waitMs }) => void throttled.push(waitMs && Math.round(waitMs / 1_000)) },
      ...clientOptions,
    },
  );
  return { time, mock, audience, sentAt, lines, throttled };
}

describe("A run", () => {
  it("leaves a permit of ten to other calls, which do not wait beside it", async () => {
    const { time, mock, audience, sentAt } = start();
    await time.run(() => {
      void audience.bulk(rows(18), upsert, { concurrency: 20 }).summary();
      time.at(5_000, () => void audience.v1.customers.list().toArray());
    }, 119_000);
    expect(sentAt.filter((at) => at < 60_000)).toHaveLength(10);
    expect(mock.requests[9]).toMatchObject({ operation: "v1.customers.list" });
  });

  it("that stands still for others says so, in the line and by `onThrottle` of a wait of more than ten seconds", async () => {
    const { time, audience, lines, throttled } = start();
    await time.run(() => void audience.bulk(rows(10), upsert, { concurrency: 20 }).summary(), 30_000);
    expect(lines).toEqual([
      expect.stringMatching(
        /^waits 600\d\d ms for the rate limit and leaves room for other calls \(reserve\)$/,
      ),
    ]);
    expect(throttled).toEqual([60]);
  });

  it("leaves no room with the option `reserve: 0` of the limiter", async () => {
    const { time, mock, audience, lines } = start({}, 0);
    await time.run(() => void audience.bulk(rows(11), upsert, { concurrency: 20 }).summary(), 30_000);
    expect(mock.requests).toHaveLength(10);
    expect(lines.join("")).not.toContain("reserve");
  });

  it.each([
    [undefined, 11],
    [0, 9],
  ])("estimates its end with the reserve, of its progress as of its check: %s", async (reserve, minutes) => {
    const etas: number[] = [];
    const { time, audience } = start({}, reserve);
    const onProgress = ({ done, etaMs }: BulkProgress) => void (done === 1 && etas.push(etaMs!));
    etas.push((await audience.bulk.check(rows(100), upsert)).estimateMs);
    await time.run(() => void audience.bulk(rows(100), upsert, { onProgress }).summary());
    expect(etas.map((etaMs) => Math.round(etaMs / 60_000))).toEqual([minutes, minutes]);
  });
});

describe("A row that is prepared", () => {
  beforeEach(useFakeTime);
  afterEach(() => void vi.useRealTimers());

  const windows = [
    { limit: 10, intervalMs: 1_000 },
    { limit: 100, intervalMs: 60_000 },
  ];

  it.each(["isCurrent", "checkpoint"])(
    "While the %s of ten rows hangs, a page view is sent",
    async (option) => {
      let hanging = 0;
      const hang = () => new Promise<never>(() => void hanging++);
      /** The records of its rows are never written. */
      class HangingCheckpoint extends MemoryCheckpoint {
        override put = async (name: string, line: string, flush: boolean) =>
          await (name.startsWith("row:") ? hang() : super.put(name, line, flush));
      }
      const checkpoint = new HangingCheckpoint();
      const rateLimiter = new RateLimiter({ windows });
      const { audience, mock } = createFixture({}, { rateLimiter });
      const options = option === "isCurrent" ? { isCurrent: hang } : { checkpoint };
      const run = audience.bulk(rows(20), upsert, options);
      void run.then(undefined, () => {});
      await passUntil(() => hanging === 10);

      const page = audience.v1.contactGroups.get("mock-list");
      await vi.advanceTimersByTimeAsync(1_000);

      await expect(page).resolves.toMatchObject({ id: "mock-list" });
      expect(mock.requests.map(({ operation }) => operation)).toEqual(["v1.contactGroups.get"]);
      const isIdle = ({ inFlight, queued }: ReturnType<RateLimiter["usage"]>) => inFlight + queued === 0;
      await passUntil(() => isIdle(rateLimiter.usage()));
    },
  );

  it("A row whose slow isCurrent was followed by a long wait asks it again, and the key function too", async () => {
    const keys: string[] = [];
    let apiKeyNow = "mock-api-key-not-a-secret";
    const apiKey = () => {
      keys.push(apiKeyNow);
      return apiKeyNow;
    };
    const rateLimiter = new RateLimiter({ windows: [{ limit: 10, intervalMs: 1_000 }] });
    const faults = [{ kind: "429", operation: "v1.contactGroups.get", times: 1, retryAfter: 4 } as const];
    const { audience, mock } = createFixture({ faults }, { rateLimiter, apiKey });
    let isAdaCurrent = true;
    const isCurrent = async () => {
      await new Promise((resolve) => setTimeout(resolve, 400));
      return isAdaCurrent;
    };
    const run = collectRun(audience.bulk(rows(1), upsert, { isCurrent }));
    await vi.advanceTimersByTimeAsync(100);
    void audience.v1.contactGroups.get("mock-list", { maxRetries: 0 }).catch(() => {});
    await vi.advanceTimersByTimeAsync(1_000);

    isAdaCurrent = false;
    apiKeyNow = "the-next-key";
    const { results } = await passUntilSettled(run);

    expect(results.map(({ status }) => status)).toEqual(["superseded"]);
    expect(keys.at(-1)).toBe("the-next-key");
    expect(mock.requests.map(({ operation }) => operation)).toEqual(["v1.contactGroups.get"]);
  });
});
