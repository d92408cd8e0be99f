import { getEventListeners } from "node:events";
import { ClientClosedError, type ClientOptions, RateLimiter, type Write, write } from "audience-sdk";
import type { MockServiceOptions } from "audience-sdk/mock";
import { describe, expect, it } from "vitest";
import {
  collectRun,
  createFixture,
  flushEventLoop,
  gated,
  key,
  row,
  type Row,
  rows,
  until,
  upsert,
} from "./fixture.ts";
import { MemoryCheckpoint } from "./memory-checkpoint.ts";

const nobody: Row = { ...row(0), email: "nobody" };
const twoAMinute = () => new RateLimiter({ windows: [{ limit: 2, intervalMs: 60_000 }], reserve: 0 });

describe("A run ends with an error that every other row would meet", () => {
  const add = (item: Row) => write.v1.contactGroups.addContact("gone", item);
  const addByRequest = (body: Row) =>
    write.v1.request({ method: "POST", path: "/api/v1/contact-groups/gone/contacts", body: { ...body } });
  const unread = { permissions: { "mock-key": [] } };
  it.each<[string, MockServiceOptions, ClientOptions, (item: Row) => Write, code: string]>([
    ["an unknown key", {}, { apiKey: "some-other-key-000" }, upsert, "authentication"],
    [
      "a key without permission",
      { organizations: [{ id: "acme", apiKeys: ["mock-key"], appId: "app" }], variants: unread },
      {},
      upsert,
      "permission",
    ],
    ["a missing list, where each row would create a contact", {}, {}, add, "not_found"],
    ["a missing list that a custom request names", {}, {}, addByRequest, "not_found"],
    [
      "wrong options of its write",
      {},
      {},
      (item) => write.v1.customers.upsert(item, { timeoutMs: -1 }),
      "configuration",
    ],
    [
      "a client of its function that is closed",
      {},
      {},
      () => {
        throw new ClientClosedError("not-sent");
      },
      "closed",
    ],
  ])("such as %s", async (what, mockOptions, clientOptions, toWrite, code) => {
    const { audience, mock } = createFixture(mockOptions, clientOptions);
    const run = audience.bulk(rows(100), toWrite, { concurrency: 4 });

    const { error, results } = await collectRun(run);

    expect(error).toMatchObject({ code });
    await expect(run.summary()).rejects.toBe(error);
    expect(mock.requests.length).toBeLessThanOrEqual(what.includes(" of its ") ? 0 : 4);
    expect(results.length).toBeLessThanOrEqual(4);
    expect(results).toContainEqual(expect.objectContaining({ error }));
  });

  it("but not with a missing path, an invalid row, or a failure of the service", async () => {
    const { audience, mock } = createFixture({}, { maxRetries: 0 });
    mock.addFault({ kind: "500-before", after: 1, times: 2 });
    const writes = [
      write.v1.request({ method: "PUT", path: "/api/v1/gone", body: {}, contact: { email: row(0).email } }),
      upsert(nobody),
      upsert(row(1)),
      add(row(2)),
    ];
    const { signal } = new AbortController();
    const { error, results } = await collectRun(
      audience.bulk(writes, (each) => each, { concurrency: 1, signal }),
    );

    expect(error).toBeUndefined();
    expect(getEventListeners(signal, "abort")).toEqual([]);
    const codes = ["not_found", "validation", "server", "server"];
    expect(results).toMatchObject(codes.map((code) => ({ error: { code } })));
  });

  // After the 502 nobody knows what the call did.
  it("nor with a 404 of another call after a 502", async () => {
    const answers = [502, 404, 200];
    const { audience } = createFixture(
      {},
      {
        fetch: async () => Response.json({ data: { id: "1" } }, { status: answers.shift() ?? 200 }),
      },
    );
    const { error, results } = await collectRun(audience.bulk(rows(3), upsert, { concurrency: 1 }));

    expect(error).toBeUndefined();
    expect(results.map(({ status }) => status)).toEqual(["unknown", "succeeded", "succeeded"]);
  });

  it("or with an error for which stopWhen returns true; it receives each error", async () => {
    const { audience } = createFixture();
    const seen: unknown[] = [];
    const stopWhen = (error: unknown) => seen.push(error) === 2;

    const { error, results } = await collectRun(
      audience.bulk([nobody, row(1), nobody, row(3)], upsert, { concurrency: 1, stopWhen }),
    );

    expect(results.map(({ status }) => status)).toEqual(["invalid", "succeeded", "invalid"]);
    expect(seen).toHaveLength(2);
    expect(error).toBe(seen[1]);
  });

  const thrown = new Error("a mistake in stopWhen");
  it.each<[string, () => unknown, object | undefined]>([
    [
      "that throws ends the run with its error",
      () => {
        throw thrown;
      },
      thrown,
    ],
    ["that returns nothing lets the run continue", () => undefined, undefined],
    [
      "that returns a promise ends the run, and its rejection is handled",
      () => Promise.reject(thrown),
      // A row may have been carried out.
      { code: "configuration", message: "stopWhen must return a boolean.", outcome: "unknown" },
    ],
  ])("a stopWhen %s", async (_, stopWhen, expected) => {
    const { audience } = createFixture();

    const { error, results } = await collectRun(
      audience.bulk([nobody, row(1)], upsert, { concurrency: 1, stopWhen: stopWhen as () => boolean }),
    );

    if (expected === undefined) expect(error).toBeUndefined();
    else expect(error).toMatchObject(expected);
    expect(results).toHaveLength(expected ? 1 : 2);
  });
});

describe("An abort of the run's signal", () => {
  it("ends the run with an AbortError after the calls in flight have ended and are recorded, reads no further row, and calls stopWhen no more", async () => {
    const { mock, audience } = createFixture();
    const gates = gated(async (url, init) => {
      // What was not sent for a reason of its own has failed, and was not ended by the run.
      if (JSON.stringify(init.body).includes(row(2).email))
        throw new TypeError("fetch failed", { cause: Object.assign(new Error(), { code: "ECONNREFUSED" }) });
      return await mock.fetch(url, init);
    });
    const stop = new AbortController();
    const checkpoint = new MemoryCheckpoint();
    const shown: unknown[] = [];
    const [source, options] = [rows(10).values(), { checkpoint, key, concurrency: 3 }];
    const run = audience.withOptions({ fetch: gates.fetch, maxRetries: 0 }).bulk(source, upsert, {
      ...options,
      signal: stop.signal,
      stopWhen: (error) => shown.push(error) === 0,
    });
    let isOver = false;
    const ended = collectRun(run).finally(() => (isOver = true));
    await until(() => gates.sent.length === 3);

    stop.abort("enough");
    await flushEventLoop();
    expect({ isOver, sent: gates.sent.length }).toEqual({ isOver: false, sent: 3 });
    expect(checkpoint.log).not.toContain("close");
    gates.open();
    const { error, results } = await ended;

    const message = "The run was aborted.";
    expect(error).toMatchObject({ code: "aborted", message, outcome: "unknown", cause: "enough" });
    expect(results.map(({ status }) => status).toSorted()).toEqual(["failed", "succeeded", "succeeded"]);
    expect(run.counts).toMatchObject({ total: 3, succeeded: 2, failed: 1 });
    expect([checkpoint.log.at(-1), gates.sent.length, shown]).toEqual(["close", 3, []]);
    expect(source.next().value).toEqual(row(3));
    expect(await audience.bulk(rows(3), upsert, options)).toMatchObject({ skipped: 2, succeeded: 1 });
  });

  it("removes the rows that wait for the rate limit: they are not sent, not recorded, and have no result", async () => {
    const rateLimiter = twoAMinute();
    const { audience, mock } = createFixture({}, { rateLimiter });
    const stop = new AbortController();
    const checkpoint = new MemoryCheckpoint();
    // What must not be repeated would be in doubt.
    const mailed = (item: Row) => write.v1.customers.upsert({ ...item, double_opt_in: true });
    const ended = collectRun(
      audience.bulk(rows(10), mailed, { checkpoint, concurrency: 5, signal: stop.signal }),
    );
    await until(() => rateLimiter.usage().queued === 5);

    stop.abort();
    const { error, results } = await ended;

    expect(error).toMatchObject({ code: "aborted" });
    expect(results.map(({ status }) => status)).toEqual(["succeeded", "succeeded"]);
    expect(mock.requests).toHaveLength(2);
    expect(rateLimiter.usage()).toMatchObject({ queued: 0 });
    const next = createFixture({}, mock.clientOptions);
    expect(await next.audience.bulk(rows(10), mailed, { checkpoint })).toMatchObject({
      skipped: 2,
      succeeded: 8,
    });
  });

  it("ends a row between two of its writes: its result reports the first", async () => {
    const rateLimiter = new RateLimiter({ windows: [{ limit: 1, intervalMs: 60_000 }] });
    const { audience } = createFixture({}, { rateLimiter });
    const stop = new AbortController();
    const toWrites = (item: Row) => [write.v1.customers.upsert(item, { repeatable: false }), upsert(item)];
    const ended = collectRun(audience.bulk(rows(1), toWrites, { signal: stop.signal }));
    await until(() => rateLimiter.usage().queued === 1);

    stop.abort();

    expect((await ended).results).toMatchObject([{ status: "unknown", error: { code: "aborted" } }]);
  });

  it("before the run reads no row, sends nothing and opens no checkpoint", async () => {
    const { audience, mock } = createFixture();
    const checkpoint = new MemoryCheckpoint();

    const { error, results } = await collectRun(
      audience.bulk(rows(2), upsert, { checkpoint, signal: AbortSignal.abort() }),
    );

    expect(error).toMatchObject({ code: "aborted", outcome: "not-sent" });
    expect([results, checkpoint.log, mock.requests]).toEqual([[], [], []]);
  });
});

it.each([undefined, () => false])(
  "A client that is closed during a run ends the run with a ClientClosedError, after the calls in flight have ended, whatever stopWhen says",
  async (stopWhen) => {
    const rateLimiter = twoAMinute();
    const { audience, mock } = createFixture({}, { rateLimiter });
    const checkpoint = new MemoryCheckpoint();
    const ended = collectRun(
      audience.bulk(rows(10), upsert, { checkpoint, concurrency: 3, ...(stopWhen && { stopWhen }) }),
    );
    await until(() => rateLimiter.usage().queued === 3);

    await audience.close();
    const { error, results } = await ended;

    expect(error).toMatchObject({ code: "closed", outcome: "unknown" });
    expect(results.map(({ status }) => status)).toEqual(["succeeded", "succeeded"]);
    expect([mock.requests.length, checkpoint.log.at(-1)]).toEqual([2, "close"]);
  },
);
