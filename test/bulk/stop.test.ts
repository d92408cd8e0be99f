import {
  AbortError,
  AuthenticationError,
  ClientClosedError,
  ConfigurationError,
  NotFoundError,
  PermissionError,
  RateLimiter,
  ServerError,
  ValidationError,
  type BulkRequest,
} from "audience-sdk";
import { describe, expect, it } from "vitest";
import {
  collectRun,
  key,
  deferred,
  row,
  rows,
  createFixture,
  flushEventLoop,
  until,
  type Row,
  gated,
} from "./fixture.ts";
import { MemoryCheckpoint } from "./memory-checkpoint.ts";

describe("A run ends with an error that every other row would meet", () => {
  it("such as an unknown key", async () => {
    const { audience, mock, upsert } = createFixture({}, { apiKey: "some-other-key-000" });
    const run = audience.bulk(rows(100), upsert, { concurrency: 4 });

    const { error, results } = await collectRun(run);

    expect(error).toBeInstanceOf(AuthenticationError);
    await expect(run.summary()).rejects.toBe(error);
    expect(mock.requests.length).toBeLessThanOrEqual(4);
    expect(results).toHaveLength(mock.requests.length);
  });

  it("such as a key without permission", async () => {
    const { audience, mock, upsert } = createFixture({
      organizations: [{ id: "acme", apiKeys: ["key-of-acme"], appId: "app" }],
      variants: { permissions: { "key-of-acme": [] } },
    });

    const { error } = await collectRun(audience.bulk(rows(100), upsert, { concurrency: 2 }));

    expect(error).toBeInstanceOf(PermissionError);
    expect(mock.requests.length).toBeLessThanOrEqual(2);
  });

  it("such as a missing list, where each row would still create a contact", async () => {
    const { audience, mock } = createFixture();
    const call = (item: Row, request: BulkRequest) =>
      audience.v1.contactGroups.addContact("gone", item, request);

    const { error } = await collectRun(audience.bulk(rows(100), call, { concurrency: 2 }));

    expect(error).toBeInstanceOf(NotFoundError);
    expect(mock.requests.length).toBeLessThanOrEqual(2);
  });

  it("such as invalid call options", async () => {
    const { audience, mock } = createFixture();
    const call = (item: Row, request: BulkRequest) =>
      audience.v1.customers.upsert(item, { ...request, retries: 3 } as never);

    const { error } = await collectRun(audience.bulk(rows(3), call, { concurrency: 1 }));

    expect(error).toBeInstanceOf(ConfigurationError);
    expect(mock.requests).toEqual([]);
  });

  it("but not with a missing contact, an invalid row, or a failure of the service", async () => {
    const { audience, mock } = createFixture(
      { faults: [{ kind: "500-before", operation: "v1.customers.upsert", times: 1 }] },
      { maxRetries: 0 },
    );
    // Its first attempt may have been carried out, which the 404 of the second leaves open.
    const retried = (request: BulkRequest) => {
      mock.addFault({ kind: "reset-after", times: 1 });
      const custom = { method: "PUT", path: "/api/v1/gone", body: {} } as const;
      return audience.withOptions({ maxRetries: 1 }).v1.request(custom, { ...request, repeatable: true });
    };
    // An error that the caller created belongs to no call.
    const ownNotFound = new NotFoundError({
      message: "gone",
      outcome: "not-applied",
      status: 404,
      headers: new Headers(),
      body: undefined,
    });
    const calls = [
      (request: BulkRequest) => audience.v1.customers.get("gone", request),
      (request: BulkRequest) =>
        audience.v1.request({ method: "GET", path: "/api/v1/customer/gone" }, request),
      (request: BulkRequest) =>
        audience.v1.request({ method: "POST", path: "/api/v1/gone", body: {} }, request),
      retried,
      () => Promise.reject(ownNotFound),
      (request: BulkRequest) => audience.v1.customers.upsert({ email: "nobody" }, request),
      (request: BulkRequest) => audience.v1.customers.upsert(row(1), request),
    ];

    const { error, results } = await collectRun(
      audience.bulk(calls, async (call, request) => await call(request), { concurrency: 1 }),
    );

    expect(error).toBeUndefined();
    expect(results.map((result) => result.error)).toEqual([
      expect.any(NotFoundError),
      expect.any(NotFoundError),
      expect.any(NotFoundError),
      expect.objectContaining({ code: "not_found", outcome: "unknown" }),
      ownNotFound,
      expect.any(ValidationError),
      expect.any(ServerError),
    ]);
  });

  it("or with an error for which stopWhen returns true; it receives each error", async () => {
    const { audience, upsert } = createFixture();
    const seen: unknown[] = [];
    const bad = { ...row(0), email: "nobody" };
    const stopWhen = (error: unknown) => seen.push(error) === 2;

    const { error, results } = await collectRun(
      audience.bulk([bad, row(1), bad, row(3)], upsert, { concurrency: 1, stopWhen }),
    );

    expect(results.map(({ status }) => status)).toEqual(["invalid", "succeeded", "invalid"]);
    expect(seen).toHaveLength(2);
    expect(error).toBe(seen[1]);
  });

  it("a stopWhen that throws ends the run with its error", async () => {
    const { audience, upsert } = createFixture();
    const thrown = new Error("a mistake in stopWhen");
    const stopWhen = () => {
      throw thrown;
    };

    const { error } = await collectRun(
      audience.bulk([{ ...row(0), email: "nobody" }, row(1)], upsert, { stopWhen }),
    );

    expect(error).toBe(thrown);
  });

  it("a stopWhen that returns undefined or null lets the run continue", async () => {
    for (const given of [undefined, null]) {
      const { audience, upsert } = createFixture();
      const items = [{ ...row(0), email: "nobody" }, row(1)];

      const { results } = await collectRun(
        audience.bulk(items, upsert, { concurrency: 1, stopWhen: () => given as never }),
      );

      expect(results.map(({ status }) => status)).toEqual(["invalid", "succeeded"]);
    }
  });

  it("a row that throws undefined has failed, and does not end the run", async () => {
    const { audience } = createFixture();
    const call = (): Promise<void> => Promise.reject(undefined);

    const { results, error } = await collectRun(audience.bulk(rows(2), call, { concurrency: 1 }));

    expect(results.map(({ status }) => status)).toEqual(["failed", "failed"]);
    expect(error).toBeUndefined();
  });

  it("a stopWhen that returns a promise ends the run with a ConfigurationError", async () => {
    const { audience, upsert } = createFixture();
    const stopWhen = (async () => false) as never;

    const { error } = await collectRun(audience.bulk([{ ...row(0), email: "nobody" }], upsert, { stopWhen }));

    expect(error).toEqual(new ConfigurationError("stopWhen must return a boolean."));
  });

  it("a key that is rotated during the run does not end it: the key function is called again", async () => {
    const { mock, audience: probe } = createFixture({
      organizations: [
        { id: "mock-organization", apiKeys: ["key-of-yesterday", "key-of-today-00"], appId: "app" },
      ],
    });
    let apiKey = "key-of-yesterday";
    let sent = 0;
    const rotating = async (url: string, init: RequestInit) => {
      // From the fifth request on the old key is unknown; the key function returns the new one only after the first 401.
      const isOld = new Headers(init.headers).get("x-api-key") === "key-of-yesterday";
      if (++sent > 4 && isOld) {
        apiKey = "key-of-today-00";
        return new Response("{}", { status: 401 });
      }
      return await mock.fetch(url, init);
    };
    const audience = probe.withOptions({ apiKey: () => apiKey, fetch: rotating });
    const upsert = (item: Row, request: BulkRequest) => audience.v1.customers.upsert(item, request);

    expect(await audience.bulk(rows(20), upsert, { concurrency: 3 }).summary()).toMatchObject({
      total: 20,
      succeeded: 20,
    });
  });
});

describe("An abort of the run's signal", () => {
  it("ends the run with an AbortError after the calls in flight have ended and are recorded", async () => {
    const { mock, audience: probe } = createFixture();
    const gates = gated(mock.fetch);
    const audience = probe.withOptions({ fetch: gates.fetch });
    const stop = new AbortController();
    const checkpoint = new MemoryCheckpoint();
    let isOver = false;
    const upsert = (item: Row, request: BulkRequest) => audience.v1.customers.upsert(item, request);
    const options = { checkpoint, key, concurrency: 3 };
    const ended = collectRun(audience.bulk(rows(10), upsert, { ...options, signal: stop.signal })).finally(
      () => (isOver = true),
    );
    await until(() => gates.sent.length === 3);

    stop.abort("enough");
    await flushEventLoop();
    expect({ isOver, sent: gates.sent.length }).toEqual({ isOver: false, sent: 3 });
    expect(checkpoint.log).not.toContain("close");
    gates.open();
    const { error, results } = await ended;

    expect(error).toBeInstanceOf(AbortError);
    expect(error).toMatchObject({ message: "The run was aborted.", outcome: "unknown", cause: "enough" });
    expect(results.map(({ status }) => status)).toEqual(["succeeded", "succeeded", "succeeded"]);
    expect(checkpoint.log.at(-1)).toBe("close");
    expect(gates.sent).toHaveLength(3);
    expect(await audience.bulk(rows(3), upsert, options)).toMatchObject({ skipped: 3 });
  });

  it("removes the rows that wait for the rate limit: they are not sent, not recorded, and have no result", async () => {
    const limiter = new RateLimiter({ windows: [{ limit: 2, intervalMs: 60_000 }], reserve: 0 });
    const { audience, mock, upsert } = createFixture({}, { rateLimiter: limiter });
    const stop = new AbortController();
    const checkpoint = new MemoryCheckpoint();
    const ended = collectRun(
      audience.bulk(rows(10), upsert, { checkpoint, concurrency: 5, signal: stop.signal }),
    );
    await until(() => limiter.usage().queued === 5);

    stop.abort();
    const { error, results } = await ended;

    expect(error).toBeInstanceOf(AbortError);
    expect(
      results.map((result) => [result.status, (result.error as AbortError | undefined)?.outcome]),
    ).toEqual([
      ["succeeded", undefined],
      ["succeeded", undefined],
    ]);
    expect(mock.requests).toHaveLength(2);
    expect(checkpoint.lines.filter((line) => line.startsWith('["ends"'))).toHaveLength(2);
    expect(limiter.usage()).toMatchObject({ queued: 0 });
    const next = createFixture({}, mock.clientOptions);
    expect(await next.audience.bulk(rows(10), next.upsert, { checkpoint })).toMatchObject({
      skipped: 2,
      succeeded: 8,
    });
  });

  it("ends a row between two calls, whose result reports the first call", async () => {
    const limiter = new RateLimiter({ windows: [{ limit: 1, intervalMs: 60_000 }] });
    const { audience } = createFixture({}, { rateLimiter: limiter });
    const stop = new AbortController();
    const call = async (item: Row, request: BulkRequest) => {
      await audience.v1.customers.upsert({ ...item, double_opt_in: true }, request);
      await audience.v1.customers.get("some-id", request);
    };
    const ended = collectRun(audience.bulk(rows(1), call, { signal: stop.signal }));
    await until(() => limiter.usage().queued === 1);

    stop.abort();

    expect((await ended).results).toMatchObject([{ status: "unknown", error: expect.any(AbortError) }]);
  });

  it("reads no further row, calls stopWhen no more, and keeps the error that a row then throws", async () => {
    const { audience } = createFixture();
    const { promise: opened, resolve: open } = deferred();
    const stop = new AbortController();
    const [read, shown]: [Row[], unknown[]] = [[], []];
    function* source() {
      for (const item of rows(5)) {
        read.push(item);
        yield item;
      }
    }
    const invalid = new ValidationError([]);
    let isCalled = false;
    const call = async () => {
      isCalled = true;
      await opened;
      throw invalid;
    };
    const ended = collectRun(
      audience.bulk(source(), call, {
        concurrency: 1,
        signal: stop.signal,
        stopWhen: (error) => shown.push(error) === 0,
      }),
    );
    await until(() => isCalled);

    stop.abort();
    await flushEventLoop();
    open();
    const { error, results } = await ended;

    expect(error).toBeInstanceOf(AbortError);
    expect(results).toMatchObject([{ status: "invalid", error: invalid }]);
    expect(read).toHaveLength(1);
    expect(shown).toEqual([]);
  });

  it("of a row's own call is that row's error, and does not end the run", async () => {
    const { audience, mock } = createFixture();
    const call = (item: Row, request: BulkRequest) =>
      audience.v1.customers.upsert(item, {
        ...request,
        ...(item.email === row(0).email && { signal: AbortSignal.abort() }),
      });

    const { error, results } = await collectRun(audience.bulk(rows(2), call, { concurrency: 1 }));

    expect(error).toBeUndefined();
    expect(results.map(({ status }) => status)).toEqual(["failed", "succeeded"]);
    expect(mock.requests).toHaveLength(1);
  });

  it("before the run sends nothing and opens no checkpoint", async () => {
    const { audience, mock, upsert } = createFixture();
    const checkpoint = new MemoryCheckpoint();

    const { error, results } = await collectRun(
      audience.bulk(rows(2), upsert, { checkpoint, signal: AbortSignal.abort() }),
    );

    expect(error).toBeInstanceOf(AbortError);
    expect([results, checkpoint.log, mock.requests]).toEqual([[], [], []]);
  });
});

describe("A client that is closed during a run", () => {
  it("ends the run with a ClientClosedError, after the calls in flight have ended", async () => {
    const limiter = new RateLimiter({ windows: [{ limit: 2, intervalMs: 60_000 }], reserve: 0 });
    const { audience, mock, upsert } = createFixture({}, { rateLimiter: limiter });
    const checkpoint = new MemoryCheckpoint();
    const ended = collectRun(audience.bulk(rows(10), upsert, { checkpoint, concurrency: 3 }));
    await until(() => limiter.usage().queued === 3);

    await audience.close();
    const { error, results } = await ended;

    expect(error).toBeInstanceOf(ClientClosedError);
    expect(results.map(({ status }) => status)).toEqual(["succeeded", "succeeded"]);
    expect(mock.requests).toHaveLength(2);
    expect(checkpoint.log.at(-1)).toBe("close");
  });

  it.each([
    ["an error of the caller", new TypeError("a mistake"), "failed"],
    ["an invalid row", new ValidationError([]), "invalid"],
  ])("and not with %s that ends at that moment: it belongs to its row", async (_, thrown, status) => {
    const { audience } = createFixture();
    const call = async () => {
      await audience.close();
      throw thrown;
    };

    const { results, error } = await collectRun(audience.bulk(rows(2), call, { concurrency: 1 }));

    expect(results).toMatchObject([{ status, error: thrown }]);
    expect(error).toBeInstanceOf(ClientClosedError);
  });

  it("ends the run between two calls of the last row, whose result reports the first call", async () => {
    const { audience } = createFixture();
    const call = async (item: Row, request: BulkRequest) => {
      await audience.v1.customers.upsert(item, request);
      await audience.close();
      await audience.v1.customers.get("some-id", request);
    };

    const { error, results } = await collectRun(audience.bulk(rows(1), call));

    expect(results).toMatchObject([{ status: "failed", error: expect.any(ClientClosedError) }]);
    expect(error).toBeInstanceOf(ClientClosedError);
  });

  it("ends the run although stopWhen returns false for each error", async () => {
    const limiter = new RateLimiter({ windows: [{ limit: 2, intervalMs: 60_000 }], reserve: 0 });
    const { audience, mock, upsert } = createFixture({}, { rateLimiter: limiter });
    const ended = collectRun(audience.bulk(rows(10), upsert, { concurrency: 3, stopWhen: () => false }));
    await until(() => limiter.usage().queued === 3);

    await audience.close();
    const { error, results } = await ended;

    expect(error).toBeInstanceOf(ClientClosedError);
    expect(results.map(({ status }) => status)).toEqual(["succeeded", "succeeded"]);
    expect(mock.requests).toHaveLength(2);
  });

  it("ends the run although the source hangs", async () => {
    const { audience, upsert, emails } = createFixture();
    const source = async function* () {
      yield row(0);
      await new Promise<never>(() => {});
    };
    const ended = collectRun(audience.bulk(source(), upsert));
    await until(() => emails().length === 1);

    await audience.close();
    const { error, results } = await ended;

    expect(error).toBeInstanceOf(ClientClosedError);
    expect(results.map(({ status }) => status)).toEqual(["succeeded"]);
  });

  it("before its start makes it read no row and open no checkpoint", async () => {
    const { audience, upsert } = createFixture();
    const checkpoint = new MemoryCheckpoint();
    let read = 0;
    const source = (function* () {
      read++;
      yield row(0);
    })();
    await audience.close();

    const { error, results } = await collectRun(audience.bulk(source, upsert, { checkpoint }));

    expect(error).toBeInstanceOf(ClientClosedError);
    expect([results, checkpoint.log, read]).toEqual([[], [], 0]);
  });

  it("ends the run although no row waits at that moment", async () => {
    const { audience, upsert } = createFixture();
    const log: string[] = [];
    const run = audience.bulk(rows(100), upsert, { concurrency: 2 });
    const looped = (async () => {
      for await (const { status } of run) {
        log.push(status);
        if (log.length === 2) await audience.close();
      }
    })();

    await expect(looped).rejects.toBeInstanceOf(ClientClosedError);
    expect(log.length).toBeLessThanOrEqual(5);
  });
});
