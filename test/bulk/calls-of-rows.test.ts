import { type AudienceClient, type BulkRequest, ConfigurationError } from "audience-sdk";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { failureOf } from "../transport/failure.ts";
import {
  collectRun,
  createFixture,
  deferred,
  flushEventLoop,
  gated,
  key,
  row,
  type Row,
  rows,
  until,
  v2Contact,
} from "./fixture.ts";
import { MemoryCheckpoint } from "./memory-checkpoint.ts";

const unhandled: unknown[] = [];
const record = (error: unknown) => void unhandled.push(error);

beforeEach(() => {
  unhandled.length = 0;
  process.on("unhandledRejection", record);
});

afterEach(async () => {
  await flushEventLoop();
  process.off("unhandledRejection", record);
});

type Upsert = (contact: Row, request: BulkRequest) => Promise<unknown>;

/** Row functions that do not await their call. */
const forgetful: [string, (upsert: Upsert) => Upsert][] = [
  [
    "without return",
    // A caller in JavaScript can pass this.
    (upsert) => ((contact: Row, request: BulkRequest) => void upsert(contact, request)) as unknown as Upsert,
  ],
  [
    "async, without await",
    (upsert) => async (contact, request) => {
      void upsert(contact, request);
    },
  ],
  [
    "with one call of two awaited",
    (upsert) => async (contact, request) => {
      await upsert({ ...contact, email: `other-${contact.email}` }, request).catch(() => undefined);
      void upsert(contact, request);
    },
  ],
  [
    "that gives up waiting",
    (upsert) => (contact, request) => Promise.race([upsert(contact, request), Promise.resolve(1)]),
  ],
];

const message =
  "The function of bulk must return or await its call: otherwise the row may end before the call does.";

describe("A row's function ends when its calls have ended", () => {
  it.each(forgetful)(
    "%s: the row is unknown, the run ends, and the next run sends the row",
    async (_, of) => {
      const { audience, upsert } = createFixture({ latencyMs: 5 });
      const checkpoint = new MemoryCheckpoint();
      const options = { checkpoint, key, concurrency: 1 };

      const { error, results } = await collectRun(audience.bulk(rows(3), of(upsert), options));

      expect(results).toMatchObject([{ status: "unknown", error: { message, outcome: "unknown" } }]);
      expect(error).toBeInstanceOf(ConfigurationError);
      expect(error).toBe(results[0]?.error);
      expect(await audience.bulk(rows(3), upsert, options).summary()).toMatchObject({
        succeeded: 3,
        skipped: 0,
      });
    },
  );

  it.each(forgetful)("%s: a call that fails is no unhandled rejection, and no success", async (_, of) => {
    const { audience, upsert } = createFixture({ faults: [{ kind: "500-before" }] }, { maxRetries: 0 });
    const options = { checkpoint: new MemoryCheckpoint(), key };

    const { error, results } = await collectRun(audience.bulk(rows(3), of(upsert), options));
    await flushEventLoop();

    expect(error).toBeInstanceOf(ConfigurationError);
    expect(results.map(({ status }) => status)).not.toContain("succeeded");
    expect(unhandled).toEqual([]);
    expect(await audience.bulk(rows(3), upsert, options)).toMatchObject({ skipped: 0 });
  });

  it.each(forgetful.slice(0, 2))("%s: a row that is not even valid is no success either", async (_, of) => {
    const { audience, mock, upsert } = createFixture();
    const bad = { ...row(0), email: "nobody" };

    const { error, results } = await collectRun(audience.bulk([bad, row(1)], of(upsert), { concurrency: 1 }));
    await flushEventLoop();

    expect(results).toMatchObject([{ status: "unknown", error: { message, outcome: "unknown" } }]);
    expect(error).toBe(results[0]?.error);
    expect([...mock.requests, ...unhandled]).toEqual([]);
  });
});

it("a row succeeds whose function makes no call or awaits each", async () => {
  const { audience, upsert } = createFixture();
  const bad = { ...row(0), email: "nobody" };
  const calls: ((request: BulkRequest) => Promise<unknown>)[] = [
    async () => undefined,
    async () => 1,
    (request: BulkRequest) => upsert(row(1), request),
    (request: BulkRequest) => upsert(row(2), request).withResponse(),
    (request: BulkRequest) => upsert(bad, request).catch(() => upsert(row(4), request)),
    async (request: BulkRequest) => {
      await Promise.allSettled([upsert(row(3), request), upsert(bad, request)]);
    },
    async (request: BulkRequest) => {
      // Leaves a pending page of the read-ahead.
      for await (const _ of audience.v1.customers.list({ limit: 1 }, request)) break;
    },
  ];

  const { error, results } = await collectRun(
    audience.bulk(calls, (call, request) => call(request), { concurrency: 1 }),
  );

  expect(error).toBeUndefined();
  expect(results.map(({ status }) => status)).toEqual(calls.map(() => "succeeded"));
});

it("a row whose function cannot make a call, as it does not take `request`, is done without one", async () => {
  const { audience } = createFixture();
  const options = { checkpoint: new MemoryCheckpoint(), key };
  const nothing = async ({ email }: Row) => email;

  expect(await audience.bulk(rows(2), nothing, options)).toMatchObject({ succeeded: 2 });

  expect(await audience.bulk(rows(2), nothing, options)).toMatchObject({ skipped: 2 });
});

it("a call that a row's function begins after its end, and that fails, is no unhandled rejection", async () => {
  const { audience, upsert } = createFixture({ faults: [{ kind: "redirect" }] });
  const { promise: mayEnd, resolve: end } = deferred();
  const late = (item: Row, request: BulkRequest) => {
    setTimeout(() => {
      void upsert(item, request);
      end();
    });
    return Promise.resolve();
  };
  async function* source() {
    yield row(0);
    await mayEnd;
    yield row(1);
  }

  const { error } = await collectRun(audience.bulk(source(), late, { concurrency: 1 }));
  await flushEventLoop();

  expect(error).toMatchObject({ message });
  expect(unhandled).toEqual([]);
});

it("the run ends after each row has its result, also where stopWhen returns false", async () => {
  const { audience, mock } = createFixture();
  const { fetch, open, sent } = gated(mock.fetch);
  const slow = audience.withOptions({ fetch });
  const [forget] = forgetful.map(([, of]) =>
    of((contact, request) => slow.v1.customers.upsert(contact, request)),
  );
  let isOver = false;
  const ended = collectRun(audience.bulk(rows(3), forget!, { stopWhen: () => false })).finally(
    () => (isOver = true),
  );
  await until(() => sent.length === 3);

  await flushEventLoop();
  expect(isOver).toBe(false);
  open();

  const { error, results } = await ended;
  expect(error).toBeInstanceOf(ConfigurationError);
  expect(error).toBe(results[0]?.error);
  expect(results.map(({ status }) => status)).toEqual(["unknown", "unknown", "unknown"]);
  expect(mock.requests).toHaveLength(3);
});

it("a row that fails during another of its calls ends after that call, whose outcome is recorded", async () => {
  const { audience, mock, upsert } = createFixture();
  const { fetch, open, sent } = gated(mock.fetch);
  const slow = audience.withOptions({ fetch });
  const checkpoint = new MemoryCheckpoint();
  const both = (contact: Row, request: BulkRequest) =>
    Promise.all([
      slow.v1.customers.upsert({ ...contact, double_opt_in: true }, request),
      upsert({ ...contact, email: "nobody" }, request),
    ]);
  const options = { checkpoint, key };
  const ended = collectRun(audience.bulk(rows(1), both, options));
  await until(() => sent.length === 1);

  await flushEventLoop();
  expect(checkpoint.log).not.toContain("close");
  open();

  expect((await ended).results).toMatchObject([{ status: "unknown", error: { code: "validation" } }]);
  expect(await audience.bulk(rows(1), both, options)).toMatchObject({ unknown: 1 });
  expect(mock.requests).toMatchObject([{ applied: true }]);
});

it("a call that begins after its run is refused, and does not touch the checkpoint", async () => {
  const { audience, mock, upsert } = createFixture();
  const checkpoint = new MemoryCheckpoint();
  const late: Promise<unknown>[] = [];
  const { promise: opened, resolve: open } = deferred();
  const call = async (contact: Row, request: BulkRequest) => {
    void opened.then(() => late.push(upsert(contact, request).catch((error: unknown) => error)));
  };
  await audience.bulk(rows(1), call, { checkpoint, key });
  const recorded = checkpoint.log.length;

  open();
  await flushEventLoop();

  expect(await late[0]).toMatchObject({
    code: "configuration",
    outcome: "not-sent",
    message: expect.stringContaining("must return or await its call"),
  });
  expect([mock.requests, checkpoint.log.length, unhandled]).toEqual([[], recorded, []]);
  // Its row needed no call, and so is asked for again.
  expect(await audience.bulk(rows(1), upsert, { checkpoint, key })).toMatchObject({ succeeded: 1 });
});

it.each([
  ["a row that made another", true],
  ["a row that made none", false],
])("a call that begins after %s ends the run, and the next run sends the row", async (_, isFirstAwaited) => {
  const { audience, upsert } = createFixture();
  const checkpoint = new MemoryCheckpoint();
  const late = async (contact: Row, request: BulkRequest) => {
    if (isFirstAwaited) await upsert(contact, request);
    setTimeout(() => void upsert(contact, request), 0);
  };
  async function* source() {
    yield row(0);
    await new Promise((resolve) => setTimeout(resolve, 20));
    yield row(1);
  }

  const { error } = await collectRun(audience.bulk(source(), late, { checkpoint, key }));

  expect(error).toBeInstanceOf(ConfigurationError);
  expect(await audience.bulk(rows(1), upsert, { checkpoint, key })).toMatchObject({
    succeeded: 1,
    skipped: 0,
  });
});

it("call options that are no object are refused", async () => {
  const { audience, mock } = createFixture();

  const run = audience.bulk(rows(1), (item) => audience.v1.customers.upsert(item, 5 as never));

  expect(await failureOf(run.summary())).toBeInstanceOf(ConfigurationError);
  expect(mock.requests).toEqual([]);
});

const needsRequest =
  "In the function of bulk a call needs the row's request: (row, request) => audience.v1.customers.upsert(row, request).";

type Call = (audience: AudienceClient) => (item: Row, request: BulkRequest) => Promise<unknown>;

/** Functions of rows whose synchronous part makes a call without `request`. */
const withoutRequest: [string, Call][] = [
  [
    "that makes one call",
    ({ v1 }) =>
      (item) =>
        v1.customers.upsert(item),
  ],
  [
    "with options of its own",
    ({ v1 }) =>
      (item) =>
        v1.customers.upsert(item, { timeoutMs: 1_000 }),
  ],
  [
    "that is async",
    ({ v1 }) =>
      async (item) =>
        await v1.customers.upsert(item),
  ],
  [
    "that reads",
    ({ v1 }) =>
      (item) =>
        v1.customers.get(item.email),
  ],
  ["of a view", (audience) => (item) => audience.withOptions({ maxRetries: 0 }).v1.customers.upsert(item)],
  [
    "of the other family",
    ({ v2 }) =>
      ({ email }) =>
        v2.contacts.upsert(v2Contact(email, "subscribed")),
  ],
  [
    "of a custom request",
    ({ v1 }) =>
      (item) =>
        v1.request({ method: "POST", path: "/api/v1/customer/create", body: item }, { repeatable: true }),
  ],
];

describe("A call in the synchronous part of a row's function without `request`", () => {
  it.each(withoutRequest)("%s rejects, sends nothing, and ends the run", async (_, callOf) => {
    const { audience, mock } = createFixture();

    const { results, error } = await collectRun(audience.bulk(rows(3), callOf(audience), { concurrency: 1 }));

    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error).toMatchObject({ message: needsRequest, outcome: "not-sent" });
    expect(results).toMatchObject([{ index: 0, status: "failed", error }]);
    expect(mock.requests).toEqual([]);
  });

  it("leaves the row unsent for the next run", async () => {
    const { audience, mock, upsert } = createFixture();
    const options = { key, checkpoint: new MemoryCheckpoint() };
    await collectRun(audience.bulk(rows(2), (item) => audience.v1.customers.upsert(item), options));

    const next = await audience.bulk(rows(2), upsert, options);

    expect(next).toMatchObject({ succeeded: 2 });
    expect(mock.requests).toHaveLength(2);
  });
});

it("A call after the synchronous part, or of another client, needs no `request`", async () => {
  const { audience, mock, upsert } = createFixture();
  const other = createFixture({}, mock.clientOptions);
  const call = async (item: Row, request: BulkRequest) => {
    await other.audience.v1.contactGroups.get("mock-list");
    await audience.v1.contactGroups.get("mock-list");
    return await upsert(item, request);
  };

  expect(await audience.bulk(rows(1), call)).toMatchObject({ succeeded: 1 });
  expect(mock.requests).toHaveLength(3);
});

it("A call beside the run, while a row's function waits, needs no `request`", async () => {
  const { audience, mock, upsert } = createFixture({ latencyMs: 5 });
  const ended = collectRun(audience.bulk(rows(2), upsert));

  await audience.v1.customers.upsert(row(5));

  expect((await ended).results.map(({ status }) => status)).toEqual(["succeeded", "succeeded"]);
  expect(mock.requests).toHaveLength(3);
});
