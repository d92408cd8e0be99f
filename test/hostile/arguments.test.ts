import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  AudienceClient,
  type BulkFunction,
  type BulkOptions,
  type BulkRows,
  type ClientOptions,
  isAudienceError,
  type Paginator,
  RateLimiter,
  type RateLimiterOptions,
  type RateLimitStore,
  V1Client,
  type V1Contact,
  V2Client,
  type Write,
  write,
} from "audience-sdk";
import { type Checkpoint, fileCheckpoint, type OpenCheckpoint } from "audience-sdk/checkpoint";
import {
  ClickUndone,
  createMockService,
  everyClick,
  everyFault,
  FaultFound,
  type MockListenOptions,
  type MockService,
} from "audience-sdk/mock";
import { mswHandlers } from "audience-sdk/mock/msw";
import { redisRateLimitStore } from "audience-sdk/redis";
import { type FlattenOptions, flattenProperties, v1EventFieldsSchema } from "audience-sdk/schemas";
import {
  openSnapshot,
  readSnapshot,
  type ReadSnapshotOptions,
  type Snapshot,
  type SnapshotQuery,
} from "audience-sdk/snapshot";
import { beforeEach, expect, it, vi, onTestFinished } from "vitest";
import { collect, createAudience } from "../snapshot/fixture.ts";
import { offline, offlineFetch } from "../transport/fixture.ts";
import {
  hostileMessage,
  tryEntryPoint,
  validCallOptions,
  validEvent,
  validQuery,
  validV1Contact,
  validV2Contact,
} from "./try-entry-point.ts";

// An invalid option may lead to the global fetch, which must not reach the network.
beforeEach(() => void vi.stubGlobal("fetch", offlineFetch));

type Untyped = (...values: unknown[]) => unknown;

/** As JavaScript calls it. */
function untyped(method: (...values: never[]) => unknown, holder: object = {}): Untyped {
  return (...values): unknown => Reflect.apply(method, holder, values);
}

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

async function use({ v1, v2 }: { v1?: V1Client; v2?: V2Client }): Promise<void> {
  // Options without a limiter use the process's default limiter, which these calls would exhaust.
  await v1?.customers.get("contact-1", { maxWaitMs: 0 });
  await v2?.lists.list({}, { maxWaitMs: 0 });
}

const audience = new AudienceClient(offline);
const { v1, v2 } = audience;

async function readAll(list: unknown): Promise<void> {
  // Safe: each list of the client is one.
  const paginator = list as Paginator<unknown>;
  await paginator.toArray();
  for await (const page of paginator.pages()) expect(page.items.length).toBeLessThan(2);
}

const listCustomers = untyped(v1.customers.list, v1.customers);
const listGroups = untyped(v1.contactGroups.list, v1.contactGroups);
const listLists = untyped(v2.lists.list, v2.lists);
const defineEvents = untyped(v1.events.define, v1.events);
const defined = v1.events.define({ order: v1EventFieldsSchema.shape.eventData.unwrap(), signed_up: null });
const validRequest = {
  method: "POST" as const,
  path: "/api/v1/new",
  query: { page: 1 },
  body: validV1Contact,
  contact: { email: "ada@example.com", phone: "+1 555 0100", contactUUID: "c-1" },
};
const writeOptions = { timeoutMs: 1_000, maxRetries: 0, repeatable: true, headers: { "x-one": "1" } };

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

/** A run rejects with the error that the caller's rows or checkpoint give. */
function unlessTheirs(error: unknown): void {
  if (error instanceof TypeError || (error instanceof Error && error.message === hostileMessage)) return;
  throw error;
}

const windows = [
  { limit: 1_000, intervalMs: 1_000 },
  { limit: 10_000, intervalMs: 60_000 },
];
const count = {
  version: 1,
  takenAt: 1_000,
  permits: [{ respondedAt: 900, isLast: false, id: "a" }],
  pausedUntil: 1_100,
  share: 1,
};
const redis = { eval: async () => [], evalsha: async () => [] };

/** Each entry point, with accepted inputs for each of its arguments. */
const entryPoints: readonly (readonly [string, Untyped, (readonly unknown[])[]])[] = [
  ["AudienceClient", (given) => use(new AudienceClient(given as ClientOptions)), [[clientOptions]]],
  ["V1Client", (given) => use({ v1: new V1Client(given as ClientOptions) }), [[clientOptions]]],
  ["V2Client", (given) => use({ v2: new V2Client(given as ClientOptions) }), [[clientOptions]]],
  ["withOptions", (given) => use(audience.withOptions(given as ClientOptions)), [[clientOptions]]],
  [
    "close",
    async (given) => {
      for (const Client of [AudienceClient, V1Client, V2Client])
        await new Client(offline).close(given as { drain: boolean });
    },
    [[{ drain: true, timeoutMs: 5 }]],
  ],
  ["v1.customers.upsert", untyped(v1.customers.upsert, v1.customers), [[validV1Contact], [validCallOptions]]],
  ["v1.customers.get", untyped(v1.customers.get, v1.customers), [["contact-1"], [validCallOptions]]],
  ["v1.customers.list", (...all) => readAll(listCustomers(...all)), [[validQuery], [validCallOptions]]],
  ["v1.contactGroups.list", (...all) => readAll(listGroups(...all)), [[validQuery], [validCallOptions]]],
  ["v1.contactGroups.get", untyped(v1.contactGroups.get, v1.contactGroups), [["list-1"], [validCallOptions]]],
  [
    "v1.contactGroups.addContact",
    untyped(v1.contactGroups.addContact, v1.contactGroups),
    [["list-1"], [validV1Contact], [validCallOptions]],
  ],
  ["v1.events.send", untyped(v1.events.send, v1.events), [[validEvent], [validCallOptions]]],
  ["v1.events.define", defineEvents, [[{ order: null }]]],
  ["a defined send", untyped(defined.send, defined), [["order", "signed_up"], [validEvent], []]],
  ["a defined write", untyped(defined.write, defined), [["order", "signed_up"], [validEvent]]],
  ["v2.contacts.upsert", untyped(v2.contacts.upsert, v2.contacts), [[validV2Contact], [validCallOptions]]],
  ["v2.lists.list", (...all) => readAll(listLists(...all)), [[validQuery], [validCallOptions]]],
  ["v1.request", untyped(v1.request, v1), [[validRequest], [validCallOptions]]],
  ["v2.request", untyped(v2.request, v2), [[{ ...validRequest, path: "/v2/new" }], [validCallOptions]]],
  ["toArray", (options) => v1.customers.list().toArray(options as { max?: number }), [[{ max: 1 }]]],
  [
    "send",
    untyped(audience.send, audience),
    [
      [
        { operation: "v1.customers.upsert", contact: validV1Contact, options: writeOptions },
        write.v1.contactGroups.addContact("list-1", { email: "a@b", email_opt_in: "SUBSCRIBED" }),
        write.v1.request(validRequest, writeOptions),
        write.v2.request({ ...validRequest, path: "/v2/new" }),
        write.v1.events.send(validEvent),
        // Safe: it is valid.
        write.v2.contacts.upsert(validV2Contact as never),
      ],
      [validCallOptions],
    ],
  ],
  [
    "bulk and its check, for rows",
    async (given) => {
      const rows = given as BulkRows<unknown>;
      const summary = await audience.bulk(rows, upsert).summary().catch(unlessTheirs);
      if (summary) {
        const { total, succeeded, invalid, failed, unknown } = summary;
        expect(succeeded + invalid + failed + unknown).toBe(total);
      }
      await audience.bulk.check(rows, upsert).catch(unlessTheirs);
    },
    [[[validV1Contact, validV1Contact]]],
  ],
  [
    "bulk and its check, for a row among others",
    async (row) => {
      // A loop awaits promises among rows: the run rejects as a rejected one does.
      if (row instanceof Promise) return;
      const rows = [validV1Contact, row, validV1Contact];
      const { total, succeeded } = await audience.bulk(rows, upsert, { checkpoint: forgetful });
      expect([total, succeeded >= 2]).toEqual([3, true]);
      expect((await audience.bulk.check(rows, upsert)).total).toBe(3);
    },
    [[validV1Contact]],
  ],
  [
    "bulk, for options",
    async (options) => {
      const run = audience.bulk([validV1Contact], upsert, options as BulkOptions<unknown>);
      const summary = await run.summary().catch(unlessTheirs);
      if (summary) expect(summary).toMatchObject({ total: 1 });
    },
    [[bulkOptions]],
  ],
  [
    "bulk and its check, for a function or what it gives",
    async (value, given) => {
      for (const toWrites of [() => value, async () => [upsert(validV1Contact, 0), value], given]) {
        await audience.bulk.check([1], toWrites as () => Write);
        await audience.bulk([1], toWrites as () => Write);
      }
    },
    [[write.v1.events.send({ eventName: "order", contact: validV1Contact })], [() => []]],
  ],
  [
    "RateLimiter",
    (options, calls) => {
      const limiter = new RateLimiter(options as RateLimiterOptions);
      for (const { used, freeInMs } of limiter.usage().windows) expect(used >= 0 && freeInMs >= 0).toBe(true);
      expect(new RateLimiter({ snapshot: limiter.snapshot() }).usage().queued).toBe(0);
      expect(limiter.estimateMs(calls as number)).toBeGreaterThanOrEqual(0);
    },
    [[{ windows, maxWaitMs: 0, maxQueued: 5, snapshot: count, clock: () => 5 }], [5]],
  ],
  [
    "redisRateLimitStore, and a limiter with its store",
    (client, given, store) => {
      redisRateLimitStore(client as typeof redis, given as { key: string });
      expect(new RateLimiter({ store: store as RateLimitStore, maxWaitMs: 0 }).usage().queued).toBe(0);
    },
    [
      [redis],
      [{ key: "k", onUnavailable: "reject", localShare: 0.5, leaseMs: 10_000 }],
      [redisRateLimitStore(redis)],
    ],
  ],
  [
    "flattenProperties",
    (value, options) => flattenProperties(value as object, options as FlattenOptions),
    [[validV1Contact, validEvent], [{ separator: "." }]],
  ],
  ["isAudienceError", (value) => expect(isAudienceError(value)).toBeTypeOf("boolean"), [[]]],
];

it.each(entryPoints)(
  "For any arguments %s does its work, or throws an SDK error, and changes none of them",
  async (_, act, valid) => {
    await tryEntryPoint(act, valid);
  },
);

it("For any arguments, fileCheckpoint returns a checkpoint or throws an SDK error, and touches no file", async () => {
  await tryEntryPoint((path) => fileCheckpoint(path as string), [["a.ckpt"]]);
});

it("For any name and line, an open checkpoint stores them or throws a TypeError, and the file stays readable", async () => {
  const folder = mkdtempSync(join(tmpdir(), "audience-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "rows.ckpt");
  const entriesOf = ({ entries }: OpenCheckpoint) => collect(entries);
  const open = await fileCheckpoint(path).open();
  // They are read first.
  expect(await entriesOf(open)).toEqual([]);
  const stored = new Map<unknown, unknown>();
  const put = async (name: unknown, line: unknown, options: unknown) => {
    const before = statSync(path).size;
    try {
      await open.put(name as string, line as string, options as { flush: boolean });
    } catch (error) {
      expect(statSync(path).size).toBe(before);
      throw error;
    }
    stored.set(name, line);
  };
  await tryEntryPoint(put, [["row:1", "row:2"], ["a line", ""], [{ flush: true }]], "a TypeError");

  await open.close();
  const again = await fileCheckpoint(path).open();
  expect(await entriesOf(again)).toEqual([...stored]);
  await again.close();
  expect(stored.size).toBeGreaterThan(0);
});

it("For any arguments, a snapshot is read, opened and asked, or it throws an SDK error, and leaves no lock", async () => {
  const { audience: reader, file, folder } = createAudience(2);
  const read = async (client: unknown, given: unknown) => {
    const { file: name } = Object(given) as { file?: unknown };
    // It writes into this folder alone.
    const inFolder = typeof name === "string" && { file: join(folder, `f${name.length}`) };
    const options = inFolder ? { ...(given as object), ...inFolder } : given;
    const snapshot = await readSnapshot(client as typeof reader, options as ReadSnapshotOptions);
    expect(snapshot.size).toBe(2);
    snapshot.close();
  };
  const options = { file: "audience.ndjson", fields: "all", priority: 3, organization: "acme" };
  await tryEntryPoint(read, [[reader], [options]]);
  await tryEntryPoint((path) => openSnapshot(path as string), [["audience.ndjson"]]);

  using today = await readSnapshot(reader, { file });
  const find = (query: unknown) => today.find(query as SnapshotQuery);
  await tryEntryPoint(find, [[{ email: "person-0@example.com" }, { id: "id-1" }]]);
  await tryEntryPoint((earlier) => collect(today.changesSince(earlier as Snapshot)), [["yesterday"]]);
  await tryEntryPoint((last) => collect(today.refusalsSince(last as Snapshot)), [["yesterday"]]);
  expect(readdirSync(folder).filter((name) => name.endsWith(".lock"))).toEqual([]);
});

const contacts = [{ email: "ada@example.com", double_opt_in: true }];
const mock = createMockService({ organizations: [{ id: "acme", apiKeys: ["k"], appId: "a", contacts }] });
const job = (each: MockService) => each.fetch("https://audience-mock.example/");
const person = [["ada@example.com"], [{ channel: "email", organization: "acme" }]];
const fault = { kind: "slow-body", operation: "v1.events.send", times: 1, delayMs: 5, location: "x" };

/** What a job or a signal of the caller's own does is passed on. */
function unlessOwn(error: unknown): void {
  const isFound = error instanceof FaultFound || error instanceof ClickUndone;
  if (!(isFound || String(error).includes(hostileMessage))) throw error;
}

it.each<[string, (...values: never[]) => unknown, (readonly unknown[])[]]>([
  ["addFault", mock.addFault, [[fault]]],
  ["organization", mock.organization, [["acme"]]],
  ["unsubscribe", mock.unsubscribe, person],
  ["confirm", mock.confirm, person],
  ["asksAgain", mock.asksAgain, person],
  [
    "fetch",
    (url: string, init: RequestInit) => createMockService().fetch(url, init).catch(unlessOwn),
    [["https://audience-mock.example/api/v1/customer"], [{ method: "POST", headers: {}, body: "{}" }]],
  ],
  [
    "listen",
    async (options: MockListenOptions) => (await createMockService().listen(options)).close(),
    [[{ port: 0, allowHosts: ["mock.test"] }]],
  ],
  [
    "everyFault",
    (given: typeof job, options: object) => everyFault(given, options).catch(unlessOwn),
    [[job], [{ kinds: ["500-before"], mock: { seed: 7 } }]],
  ],
  [
    "everyClick",
    (given: typeof job, options: object) => everyClick(given, options).catch(unlessOwn),
    [[job], [{ people: ["ada"], mock: { seed: 7 } }]],
  ],
  ["mswHandlers", mswHandlers, [[mock], [{ baseUrl: "https://a.example", baseUrlV2: "https://b.example/" }]]],
])("For any arguments, %s of the mock does its work, or throws a TypeError", async (_, act, valid) => {
  await tryEntryPoint((...values) => act(...(values as never[])), valid, "a TypeError");
});
