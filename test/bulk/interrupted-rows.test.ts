import { RateLimiter, type AudienceClient, type BulkRequest } from "audience-sdk";
import { expect, it } from "vitest";
import { failureOf } from "../transport/failure.ts";
import {
  collectRun,
  createFixture,
  deferred,
  flushEventLoop,
  key,
  rows,
  until,
  type Row,
} from "./fixture.ts";
import { MemoryCheckpoint } from "./memory-checkpoint.ts";

it.each([
  ["its signal", (_: AudienceClient, stop: AbortController) => stop.abort()],
  ["close()", (audience: AudienceClient) => void audience.close()],
])("A row whose function catches the rejection by %s is sent by the next run", async (_, end) => {
  const rateLimiter = new RateLimiter({ windows: [{ limit: 2, intervalMs: 60_000 }], reserve: 0 });
  const { audience, mock } = createFixture({}, { rateLimiter });
  const checkpoint = new MemoryCheckpoint();
  const stop = new AbortController();
  const settle = (row: Row, request: BulkRequest) =>
    Promise.allSettled([audience.v1.customers.upsert(row, request)]);
  const first = collectRun(audience.bulk(rows(5), settle, { key, checkpoint, signal: stop.signal }));
  await until(() => mock.requests.length === 2 && rateLimiter.usage().queued === 3);

  end(audience, stop);

  expect((await first).results.map(({ status }) => status)).toEqual(["succeeded", "succeeded"]);
  const next = createFixture({}, mock.clientOptions);
  const { results } = await collectRun(next.audience.bulk(rows(5), next.upsert, { key, checkpoint }));
  const done = results.map(({ status }) => status);
  expect(done).toEqual(["skipped", "skipped", "succeeded", "succeeded", "succeeded"]);
  expect(mock.organization("mock-organization").contacts).toHaveLength(5);
});

it.each(["429", "500-before", "reset-before"] as const)(
  "A row whose retry after a %s is cut off by the end of the run is sent by the next run",
  async (kind) => {
    const { audience, mock } = createFixture({ latencyMs: 50, faults: [{ kind, times: 1, retryAfter: 1 }] });
    const checkpoint = new MemoryCheckpoint();
    const stop = new AbortController();
    const settle = (row: Row, request: BulkRequest) =>
      Promise.allSettled([audience.v1.customers.upsert(row, request)]);
    const first = collectRun(audience.bulk(rows(1), settle, { key, checkpoint, signal: stop.signal }));
    await until(() => mock.requests.length === 1);

    stop.abort();

    expect((await first).results.map(({ status }) => status)).not.toContain("succeeded");
    const next = createFixture();
    const { results } = await collectRun(next.audience.bulk(rows(1), next.upsert, { key, checkpoint }));
    expect(results.map(({ status }) => status)).toEqual(["succeeded"]);
    expect(next.mock.requests).toHaveLength(1);
  },
);

it("A row whose attempt with the next key is cut off by the end of the run is sent by the next run", async () => {
  let apiKey = "the-first-key";
  const { audience, mock } = createFixture({ latencyMs: 50 }, { apiKey: () => apiKey });
  const checkpoint = new MemoryCheckpoint();
  const stop = new AbortController();
  const settle = (row: Row, request: BulkRequest) =>
    Promise.allSettled([audience.v1.customers.upsert(row, request)]);
  const options = { key, checkpoint, organization: "acme" };
  const first = collectRun(audience.bulk(rows(1), settle, { ...options, signal: stop.signal }));
  await until(() => mock.requests.length === 1);

  apiKey = mock.clientOptions.apiKey;
  stop.abort();

  expect((await first).results.map(({ status }) => status)).not.toContain("succeeded");
  const { results } = await collectRun(audience.bulk(rows(1), settle, options));
  expect(results.map(({ status }) => status)).toEqual(["succeeded"]);
  expect(mock.organization("mock-organization").contacts).toHaveLength(1);
});

it("A row whose write was carried out has succeeded, though a read after it was cut off", async () => {
  const { audience, mock } = createFixture({
    latencyMs: 50,
    faults: [{ kind: "500-before", operation: "v1.customers.get" }],
  });
  const checkpoint = new MemoryCheckpoint();
  const stop = new AbortController();
  const send = async (row: Row, request: BulkRequest) => {
    const { id } = await audience.v1.customers.upsert(row, request);
    await Promise.allSettled([audience.v1.customers.get(id, request)]);
  };
  const first = collectRun(audience.bulk(rows(1), send, { key, checkpoint, signal: stop.signal }));
  await until(() => mock.requests.length === 2);

  stop.abort();

  expect((await first).results.map(({ status }) => status)).toEqual(["succeeded"]);
  expect(await audience.bulk(rows(1), send, { key, checkpoint })).toMatchObject({ skipped: 1 });
});

it("A row whose second write is cut off by the end of the run is sent by the next run", async () => {
  const rateLimiter = new RateLimiter({ windows: [{ limit: 1, intervalMs: 60_000 }] });
  const { audience, mock } = createFixture({}, { rateLimiter });
  const checkpoint = new MemoryCheckpoint();
  const stop = new AbortController();
  const settle = async (row: Row, request: BulkRequest) => {
    await audience.v1.customers.upsert(row, request);
    await Promise.allSettled([audience.v1.customers.upsert({ ...row, first_name: "Ada" }, request)]);
  };
  const first = collectRun(audience.bulk(rows(1), settle, { key, checkpoint, signal: stop.signal }));
  await until(() => mock.requests.length === 1 && rateLimiter.usage().queued === 1);

  stop.abort();

  expect((await first).results.map(({ status }) => status)).not.toContain("succeeded");
  const next = createFixture({}, mock.clientOptions);
  const { results } = await collectRun(next.audience.bulk(rows(1), next.upsert, { key, checkpoint }));
  expect(results.map(({ status }) => status)).toEqual(["succeeded"]);
});

it("A row that writes nothing as a read is cut off by the end of the run is sent by the next run", async () => {
  const rateLimiter = new RateLimiter({ windows: [{ limit: 1, intervalMs: 60_000 }] });
  const { audience } = createFixture({}, { rateLimiter });
  const checkpoint = new MemoryCheckpoint();
  const stop = new AbortController();
  const settle = async (_: Row, request: BulkRequest) => {
    await audience.v1.contactGroups.list({}, request);
    await Promise.allSettled([audience.v1.customers.get("a-contact", request)]);
  };
  const first = collectRun(audience.bulk(rows(1), settle, { key, checkpoint, signal: stop.signal }));
  await until(() => rateLimiter.usage().queued === 1);

  stop.abort();

  expect((await first).results.map(({ status }) => status)).not.toContain("succeeded");
  const next = createFixture();
  const { results } = await collectRun(next.audience.bulk(rows(1), next.upsert, { key, checkpoint }));
  expect(results.map(({ status }) => status)).toEqual(["succeeded"]);
});

it("A row that was never sent has no result after an abort, though it once had a permit", async () => {
  const rateLimiter = new RateLimiter();
  const { promise: isRefused, resolve: giveKey } = deferred();
  const { promise: hasBothPermits, resolve: secondAsks } = deferred();
  let asked = 0;
  const apiKey = async () => {
    if (++asked === 2) {
      secondAsks();
      await isRefused;
    }
    return "mock-api-key";
  };
  const fetch = async (url: string, init: RequestInit) => {
    await hasBothPermits;
    return await mock.fetch(url, init);
  };
  const faults = [{ kind: "429", retryAfter: 60 } as const];
  const { audience, upsert, mock } = createFixture({ faults }, { rateLimiter, apiKey, fetch });
  const stop = new AbortController();
  const run = collectRun(audience.bulk(rows(2), upsert, { signal: stop.signal }));
  await until(() => rateLimiter.usage().pausedMs > 0);
  giveKey();
  await flushEventLoop();

  stop.abort();

  expect((await run).results).toMatchObject([{ index: 0, status: "failed" }]);
  expect(mock.requests).toHaveLength(1);
});

it("A run that is aborted before its first request has the outcome not-sent, and later unknown", async () => {
  const before = createFixture();
  const during = createFixture();
  const stop = new AbortController();
  const importing = ({ audience, upsert }: typeof before, signal: AbortSignal) =>
    audience.bulk(rows(2), upsert, { signal, concurrency: 1 });
  const loop = async () => {
    for await (const { status } of importing(during, stop.signal)) if (status === "succeeded") stop.abort();
  };

  expect(await failureOf(importing(before, AbortSignal.abort()).summary())).toMatchObject({
    outcome: "not-sent",
  });
  expect(await failureOf(loop())).toMatchObject({ code: "aborted", outcome: "unknown" });

  expect([before.mock.requests, during.mock.requests]).toEqual([[], [expect.anything()]]);
});

it("A row whose call is aborted while isCurrent is asked was not sent, and is sent by the next run", async () => {
  const { audience, mock } = createFixture();
  const checkpoint = new MemoryCheckpoint();
  const stop = new AbortController();
  const importing = (signal: AbortSignal | undefined, isCurrent: () => Promise<boolean>) =>
    audience.bulk(
      rows(1),
      async ({ email }, request) => {
        try {
          // Without an opt-in it must not be repeated.
          return await audience.v1.customers.upsert({ email }, request);
        } catch (error) {
          await flushEventLoop();
          throw error;
        }
      },
      { checkpoint, key, isCurrent, ...(signal && { signal }) },
    );
  const aborted = importing(stop.signal, async () => {
    stop.abort("stop");
    await flushEventLoop();
    return true;
  });

  expect(await failureOf(aborted.summary())).toMatchObject({ code: "aborted" });
  expect(mock.requests).toEqual([]);
  expect(await importing(undefined, async () => true)).toMatchObject({ succeeded: 1, unknown: 0 });
  expect(mock.requests).toHaveLength(1);
});
