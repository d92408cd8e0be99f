import {
  AbortError,
  ApiError,
  AudienceClient,
  AudienceError,
  AuthenticationError,
  BadRequestError,
  type BulkFunction,
  type BulkOptions,
  type BulkRows,
  ClientClosedError,
  type ClientOptions,
  ConfigurationError,
  ConnectionError,
  isAudienceError,
  NotFoundError,
  type Paginator,
  PermissionError,
  RateLimiter,
  type RateLimiterOptions,
  RateLimitError,
  type RateLimitStore,
  RateLimitWaitError,
  RedirectError,
  ServerError,
  TimeoutError,
  UnexpectedResponseError,
  V1Client,
  type V1Contact,
  V2Client,
  ValidationError,
  type Write,
  write,
} from "audience-sdk";
import type { Checkpoint } from "audience-sdk/checkpoint";
import { redisRateLimitStore } from "audience-sdk/redis";
import { type FlattenOptions, flattenProperties, v1EventFieldsSchema } from "audience-sdk/schemas";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { offline, offlineFetch } from "../transport/fixture.ts";
import {
  hostileMessage,
  validCallOptions,
  validEvent,
  validIdentifier,
  validQuery,
  validV1Contact,
  validV2Contact,
} from "./hostile-values.ts";
import { tryEntryPoint } from "./try-entry-point.ts";

const silent = () => undefined;
const clientOptions = {
  ...offline,
  apiKeyV2: "other-key-0123456789",
  timeoutMs: 1_000,
  deadlineMs: 2_000,
  maxResponseBytes: 1_000_000,
  rateLimiter: {
    windows: [{ limit: 1_000_000, intervalMs: 1_000 }],
    maxWaitMs: 0,
    maxQueued: 10,
  },
  parsePage: () => ({ items: [] }),
  headers: { "x-app": "1" },
  logger: { debug: silent, info: silent, warn: silent, error: silent },
  logLevel: "debug",
  hooks: { onRequest: silent, onResponse: silent, onRetry: silent, onThrottle: silent },
  userAgent: "app/1",
  allowInsecureHttp: false,
};
const validClient = [[clientOptions]];

// An invalid option may lead to the global fetch, which must not reach the network.
beforeEach(() => void vi.stubGlobal("fetch", offlineFetch));

async function use(client: { v1: V1Client; v2: V2Client }): Promise<void> {
  // Options without a limiter use the process's default limiter, which these calls would exhaust.
  await client.v1.customers.get("contact-1", { maxWaitMs: 0 });
  await client.v2.lists.list({}, { maxWaitMs: 0 });
}

describe("For any options, the constructor returns a client that works or throws an SDK error", () => {
  it.each([
    ["AudienceClient", (options: unknown) => use(new AudienceClient(options as ClientOptions))],
    [
      "V1Client",
      (options: unknown) =>
        new V1Client(options as ClientOptions).customers.get("contact-1", { maxWaitMs: 0 }),
    ],
    [
      "V2Client",
      async (options: unknown) =>
        await new V2Client(options as ClientOptions).lists.list({}, { maxWaitMs: 0 }),
    ],
    [
      "withOptions",
      (options: unknown) => use(new AudienceClient(offline).withOptions(options as ClientOptions)),
    ],
  ])("%s", async (_, act) => {
    await tryEntryPoint({ act, valid: validClient });
  });
});

it("An option is read once: the validated value is the one that is used", () => {
  let reads = 0;
  const options = {
    ...offline,
    get maxRetries() {
      return reads++ === 0 ? 0 : "many";
    },
  };
  // A caller in JavaScript can pass this.
  const audience = new AudienceClient(options as ClientOptions);
  expect(reads).toBe(1);
  expect(() => audience.withOptions({ timeoutMs: 5 })).not.toThrow();
  expect(isAudienceError(new ConfigurationError("x"))).toBe(true);
});

const audience = new AudienceClient(offline);
const { v1, v2 } = audience;
const ids = [["contact-1"], [validCallOptions]];

/** A method without types, as JavaScript calls it. */
function untyped<Result>(method: (...values: never[]) => Result, holder: object) {
  return (...values: unknown[]): Result => Reflect.apply(method, holder, values) as Result;
}

function sendAnOrder(schemas: unknown): Promise<unknown> {
  const events: { send(name: string, event: object): Promise<unknown> } = defineEvents(schemas);
  return events.send("order", { contact, uniqueIdentifier: "order-1" });
}

async function readAll(list: Paginator<unknown>): Promise<void> {
  await list.toArray();
  for await (const page of list.pages()) expect(page.items.length).toBeLessThan(2);
}

const upsertV1 = untyped(v1.customers.upsert, v1.customers);
const getCustomer = untyped(v1.customers.get, v1.customers);
const listCustomers = untyped(v1.customers.list, v1.customers);
const listGroups = untyped(v1.contactGroups.list, v1.contactGroups);
const getGroup = untyped(v1.contactGroups.get, v1.contactGroups);
const addContact = untyped(v1.contactGroups.addContact, v1.contactGroups);
const sendEvent = untyped(v1.events.send, v1.events);
const defineEvents = untyped(v1.events.define, v1.events);
const defined = v1.events.define({ order: v1EventFieldsSchema.shape.eventData.unwrap(), signed_up: null });
const sendDefined = untyped(defined.send, defined);
const writeDefined = untyped(defined.write, defined);
const sendWrite = untyped(audience.send, audience);
/** A write of any arguments, sent. */
const sendMade =
  (make: (...values: never[]) => object) =>
  (...values: unknown[]) =>
    sendWrite(untyped(make, {})(...values));
const upsertV2 = untyped(v2.contacts.upsert, v2.contacts);
const listLists = untyped(v2.lists.list, v2.lists);
const requestV1 = untyped(v1.request, v1);
const requestV2 = untyped(v2.request, v2);
const contact = { email: "ada@example.com", phone: "+1 555 0100", contactUUID: "c-1" };
const validRequest = {
  method: "POST",
  path: "/api/v1/new",
  query: { page: 1 },
  body: validV1Contact,
  contact,
};

const validWriteOptions = { timeoutMs: 1_000, maxRetries: 0, repeatable: true, headers: { "x-one": "1" } };

describe("For any arguments, a call returns its value or rejects with an SDK error", () => {
  it.each([
    ["v1.customers.upsert", upsertV1, [[validV1Contact], [validCallOptions]]],
    ["v1.customers.get", getCustomer, ids],
    [
      "v1.customers.list",
      (...all: unknown[]) => readAll(listCustomers(...all)),
      [[validQuery], [validCallOptions]],
    ],
    [
      "v1.contactGroups.list",
      (...all: unknown[]) => readAll(listGroups(...all)),
      [[validQuery], [validCallOptions]],
    ],
    ["v1.contactGroups.get", getGroup, ids],
    ["v1.contactGroups.addContact", addContact, [["list-1"], [validV1Contact], [validCallOptions]]],
    ["v1.events.send", sendEvent, [[validEvent], [validCallOptions]]],
    ["the send of v1.events.define", sendDefined, [["order", "signed_up"], [validEvent], [validCallOptions]]],
    ["the write of v1.events.define", writeDefined, [["order", "signed_up"], [validEvent]]],
    [
      "audience.send",
      sendWrite,
      [
        [
          { operation: "v1.customers.upsert", contact: validV1Contact, options: validWriteOptions },
          { operation: "v1.contactGroups.addContact", listId: "list-1", contact: validV1Contact },
        ],
        [validCallOptions],
      ],
    ],
    [
      "write.v1.customers.upsert",
      sendMade(write.v1.customers.upsert),
      [[validV1Contact], [validWriteOptions]],
    ],
    [
      "write.v1.contactGroups.addContact",
      sendMade(write.v1.contactGroups.addContact),
      [["list-1"], [validV1Contact]],
    ],
    ["write.v1.events.send", sendMade(write.v1.events.send), [[validEvent]]],
    ["write.v2.contacts.upsert", sendMade(write.v2.contacts.upsert), [[validV2Contact]]],
    ["write.v1.request", sendMade(write.v1.request), [[validRequest], [validWriteOptions]]],
    ["write.v2.request", sendMade(write.v2.request), [[{ ...validRequest, path: "/v2/new" }]]],
    ["v1.events.define", (schemas: unknown) => sendAnOrder(schemas), [[{ order: null }]]],
    ["v2.contacts.upsert", upsertV2, [[validV2Contact], [validCallOptions]]],
    ["v2.lists.list", (...all: unknown[]) => readAll(listLists(...all)), [[validQuery], [validCallOptions]]],
    ["v1.request", requestV1, [[validRequest], [validCallOptions]]],
    ["v2.request", requestV2, [[{ ...validRequest, path: "/v2/new" }], [validCallOptions]]],
  ])("%s", async (_, act, valid) => {
    await tryEntryPoint({ act, valid, argumentCount: valid.length });
  });

  it("with valid input and any options", async () => {
    await tryEntryPoint({ act: (options) => sendEvent(validEvent, options), valid: [[validCallOptions]] });
    await tryEntryPoint({
      act: (options) => readAll(listLists(validQuery, options)),
      valid: [[validCallOptions]],
    });
  });
});

it.each([AudienceClient, V1Client, V2Client])(
  "For any options, close of %o resolves or rejects with an SDK error",
  async (Client) => {
    const act = (options: unknown) => new Client(offline).close(options as { drain?: boolean });
    await tryEntryPoint({ act, valid: [[{ drain: true, timeoutMs: 5 }]] });
  },
);

it("For any arguments, toArray returns items or rejects with an SDK error", async () => {
  const list = v1.customers.list();
  const act = (options: unknown) => list.toArray(options as { max?: number });
  await tryEntryPoint({ act, valid: [[{ max: 1 }]] });
});

it("Any arguments of then, catch and finally of a list leave the list unchanged", async () => {
  const list = v1.customers.list();
  const act = async (first: unknown, second: unknown) => {
    const ends = [
      list.then(first as () => void, second as () => void),
      list.catch(first as () => void),
      list.finally(second as () => void),
    ];
    // An error that the caller's callback throws is passed on.
    for (const { status } of await Promise.allSettled(ends)) expect(status).toBeTypeOf("string");
    expect((await list).items).toHaveLength(1);
  };
  await tryEntryPoint({ act, argumentCount: 2 });
});

it("Any arguments of withResponse(), then and catch leave a call unchanged", async () => {
  const act = (first: unknown, second: unknown) => {
    const call = v1.customers.get("contact-1");
    return call.then(first as () => void, second as () => void).catch((error: unknown) => {
      // An error that the caller's callback throws is passed on.
      if (isAudienceError(error)) throw error;
    });
  };
  await tryEntryPoint({ act, argumentCount: 2 });
});

it("isAudienceError returns a boolean for any value", async () => {
  const act = (value: unknown) => {
    expect(isAudienceError(value)).toBeTypeOf("boolean");
  };
  await tryEntryPoint({ act });
});

/** Forgets every line. */
const forgetful: Checkpoint = {
  open: async () => ({
    entries: (async function* () {})(),
    put: async () => undefined,
    clear: async () => undefined,
    close: async () => undefined,
  }),
};
const bulkOptions = {
  concurrency: 2,
  total: 1,
  key: () => "row",
  fingerprint: () => "as it is",
  isCurrent: () => true,
  checkConsent: true,
  checkpoint: forgetful,
  organization: "acme",
  onProgress: () => undefined,
  stopWhen: () => false,
};
// Safe: the test passes rows of any type on purpose.
const upsert: BulkFunction<unknown, Write> = (row) =>
  write.v1.customers.upsert(row as V1Contact & { email: string });

/** A run rejects with the error that the caller's iterable throws. */
function unlessTheirs(error: unknown): void {
  if (error instanceof Error && (error.message === hostileMessage || error instanceof TypeError)) return;
  throw error;
}

it("For any rows, each row has its result, or the run rejects with an SDK error or the iterable's error", async () => {
  const act = async (rows: unknown) => {
    const run = audience.bulk(rows as BulkRows<unknown>, upsert);
    const summary = await run.summary().catch(unlessTheirs);
    if (summary) {
      const { total, succeeded, invalid, failed, unknown } = summary;
      expect(succeeded + invalid + failed + unknown).toBe(total);
    }
    await audience.bulk.check(rows as BulkRows<unknown>, upsert).catch(unlessTheirs);
  };
  await tryEntryPoint({ act, valid: [[[validV1Contact, validV1Contact]]] });
});

it("For any row among valid ones, each row has its result", async () => {
  const act = async (row: unknown) => {
    const rows = [validV1Contact, row, validV1Contact];
    // Promises among rows are awaited, as a loop does: the run rejects as a rejected one does.
    if (row instanceof Promise) return;
    const { total, succeeded } = await audience.bulk(rows, upsert).summary();
    expect(total).toBe(3);
    expect(succeeded).toBeGreaterThanOrEqual(2);
    const checked = await audience.bulk.check(rows, upsert);
    expect(checked.total).toBe(3);
    const recorded = audience.bulk(rows, upsert, { checkpoint: forgetful });
    expect(await recorded.summary()).toMatchObject({ total: 3 });
  };
  await tryEntryPoint({ act, valid: [[validV1Contact]] });
});

it("For any options, the run ends with a result for each row, or with an SDK error", async () => {
  const act = async (options: unknown) => {
    const run = audience.bulk([validV1Contact], upsert, options as BulkOptions<unknown>);
    // A run rejects with the error that the caller's checkpoint throws.
    const summary = await run.summary().catch(unlessTheirs);
    if (summary) expect(summary).toMatchObject({ total: 1 });
  };
  await tryEntryPoint({ act, valid: [[bulkOptions]] });
});

it("For any value as the function of a row, or as its write, the run and the check end or throw an SDK error", async () => {
  const act = async (value: unknown, given: unknown) => {
    for (const toWrites of [
      () => value,
      async () => value,
      () => [upsert(validV1Contact, 0), value],
      given,
    ]) {
      await audience.bulk.check([1], toWrites as () => Write);
      await audience.bulk([1], toWrites as () => Write);
    }
  };
  const event = write.v1.events.send({ eventName: "order", contact: validV1Contact });
  await tryEntryPoint({ act, argumentCount: 2, valid: [[upsert(validV1Contact, 0), event], [() => []]] });
});

it("Any arguments of a run's then leave the run unchanged", async () => {
  const act = async (first: unknown, second: unknown) => {
    const run = audience.bulk([validV1Contact], upsert);
    // An error that the caller's callback throws is passed on.
    await Promise.allSettled([run.then(first as () => void, second as () => void)]);
    expect(await run).toMatchObject({ total: 1, succeeded: 1 });
  };
  await tryEntryPoint({ act, argumentCount: 2 });
});

const count = {
  version: 1,
  takenAt: 1_000,
  answeredAt: [900, 950],
  ids: ["a", "b"],
  pausedUntil: 1_100,
  share: 1,
};
const limiterOptions = {
  windows: [
    { limit: 1_000, intervalMs: 1_000 },
    { limit: 10_000, intervalMs: 60_000 },
  ],
  maxWaitMs: 0,
  maxQueued: 5,
  snapshot: count,
  clock: () => 5,
};

const redis = { eval: async () => [], evalsha: async () => [] };

it("For any options, a RateLimiter works or its constructor throws an SDK error", async () => {
  const act = async (options: unknown, calls: unknown) => {
    const limiter = new RateLimiter(options as RateLimiterOptions);
    const { windows, queued } = limiter.usage();
    for (const { used, freeInMs } of windows) expect(used >= 0 && freeInMs >= 0).toBe(true);
    expect(queued).toBe(0);
    expect(new RateLimiter({ snapshot: limiter.snapshot() }).usage().queued).toBe(0);
    expect(limiter.estimateMs(calls as number)).toBeGreaterThanOrEqual(0);
  };
  await tryEntryPoint({ act, argumentCount: 2, valid: [[limiterOptions, {}], [5]] });
});

it("Any snapshot carries its count over or is refused", async () => {
  const act = (given: unknown) => {
    const limiter = new RateLimiter({ snapshot: given as NonNullable<RateLimiterOptions["snapshot"]> });
    for (const { used } of limiter.usage().windows) expect(used).toBeLessThanOrEqual(2);
    expect(limiter.estimateMs(1)).toBeLessThanOrEqual(2 * 3_600_000 + 10_000);
  };
  await tryEntryPoint({ act, valid: [[count]] });
});

it("For any value as a store, a limiter works or throws an SDK error", async () => {
  const { evalsha } = redis;
  const store = redisRateLimitStore({ eval: evalsha, evalsha });
  const act = (given: unknown) => {
    const limiter = new RateLimiter({ store: given as RateLimitStore, maxWaitMs: 0 });
    expect(limiter.usage().queued).toBe(0);
  };
  await tryEntryPoint({ act, valid: [[store, { open: () => 5 }]] });
});

it("For any arguments, redisRateLimitStore returns a store or throws an SDK error", async () => {
  const options = { key: "k", onUnavailable: "reject", localShare: 0.5, leaseMs: 10_000 };
  const act = (client: unknown, given: unknown) =>
    redisRateLimitStore(client as typeof redis, given as { key: string }).leaseMs;
  await tryEntryPoint({ act, argumentCount: 2, valid: [[redis], [options]] });
  await tryEntryPoint({ act: (given) => act(redis, given), valid: [[options]] });
});

const details = {
  message: "m",
  outcome: "unknown",
  status: 404,
  headers: new Headers({ "x-a": "1" }),
  body: { error: "no" },
  retryAfterMs: 5,
  reason: "reset",
  timeoutMs: 5,
  location: "/x",
  waitMs: 5,
  retryAt: new Date(0),
  window: { limit: 1, intervalMs: 1 },
  cause: new Error("c"),
};
const issues = [{ path: ["email", 0], code: "custom", message: "m" }];

const makers = [
  AbortError,
  ApiError,
  AudienceError,
  AuthenticationError,
  BadRequestError,
  ClientClosedError,
  ConfigurationError,
  ConnectionError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  RateLimitWaitError,
  RedirectError,
  ServerError,
  TimeoutError,
  UnexpectedResponseError,
  ValidationError,
];

/** The constructors of errors are typed; for other values the language, or the value itself, throws. */
function isTheirs(error: unknown): boolean {
  return (
    error instanceof TypeError ||
    error instanceof RangeError ||
    (error instanceof Error && error.message === hostileMessage)
  );
}

describe("For any arguments, an error constructor returns an instance of its class or throws", () => {
  it.each(makers.map((maker) => [maker.name, maker] as const))("%s", async (_, maker) => {
    const act = (...given: unknown[]) => {
      let error: unknown;
      try {
        error = Reflect.construct(maker, given);
      } catch (thrown) {
        if (!isTheirs(thrown)) throw thrown;
        return;
      }
      expect(isAudienceError(error)).toBe(true);
      // A key of this name sets the prototype of what it is copied to.
      if (Object.hasOwn(Object(given[0]) as object, "__proto__")) return;
      expect(error).toBeInstanceOf(maker);
      expect(error).toBeInstanceOf(AudienceError);
    };
    // The base class is abstract: only its subclasses set its outcome and details.
    const takes = maker === AudienceError ? 1 : 3;
    await tryEntryPoint({
      act,
      argumentCount: takes,
      valid: [[details, issues, "m"], ["unknown"], [details]],
    });
  });
});

/** One accepted input of each kind. */
const inputs = [validV1Contact, validEvent, validV2Contact, validIdentifier, validQuery];

it("For any arguments, flattenProperties returns flat properties or throws an SDK error", async () => {
  const act = (value: unknown, options: unknown) =>
    // A caller in JavaScript can pass this.
    flattenProperties(value as object, options as FlattenOptions);
  await tryEntryPoint({ act, argumentCount: 2, valid: [inputs, [{ separator: "." }]] });
});
