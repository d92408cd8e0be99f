import { Readable } from "node:stream";
import { type BulkProgress, type BulkRows, type BulkRun, type Write, write } from "audience-sdk";
import { describe, expect, it } from "vitest";
import {
  collectRun,
  createFixture,
  flushEventLoop,
  key,
  row,
  type Row,
  upsert,
  v2Contact,
} from "./fixture.ts";
import { MemoryCheckpoint } from "./memory-checkpoint.ts";

const refusal = (index: number): Row => ({ ...row(index), email_opt_in: "UNSUBSCRIBED" });
/** Rows 1 and 3 refuse. */
const source = () => [row(0), refusal(1), row(2), refusal(3), row(4)];
const options = { concurrency: 1 };

/** The index of each result, in their order. */
async function order<R>(run: BulkRun<R, unknown>): Promise<{ indices: number[]; error?: unknown }> {
  const { results, error } = await collectRun(run);
  return { indices: results.map(({ index }) => index), error };
}

async function* generated() {
  yield* source();
}

const twice: [string, () => BulkRows<Row>][] = [
  ["an array", source],
  ["a set", () => new Set(source())],
  ["promises in an array", () => source().map(async (each) => await Promise.resolve(each))],
  ["an iterable of one's own with a size", () => ({ size: 5, [Symbol.iterator]: () => source().values() })],
  ["a function that gives an array", () => source],
  ["a function that gives a generator anew", () => () => source().values()],
  ["a function that gives an async generator anew", () => generated],
  ["a function that gives a stream of Node anew", () => () => Readable.from(source())],
];

it.each(twice)("Rows with a refusal go first, and each keeps its place as `index`: %s", async (_, rows) => {
  const { audience, emails } = createFixture();

  const { indices, error } = await order(audience.bulk(rows(), upsert, options));

  expect(error).toBeUndefined();
  expect(indices).toEqual([1, 3, 0, 2, 4]);
  expect(emails()).toEqual(indices.map((index) => row(index).email));
});

it.each<[string, () => BulkRows<Row>]>([
  ["an iterator", () => source().values()],
  ["an async generator", generated],
  ["a stream of Node", () => Readable.from(source())],
])("A stream is sent in its order, and read as it is sent: %s", async (_, rows) => {
  const { audience } = createFixture();

  expect(await order(audience.bulk(rows(), upsert, options))).toEqual({ indices: [0, 1, 2, 3, 4] });
});

const { email } = row(1);
it.each<[string, Write | Write[]]>([
  ["a suppression", write.v1.customers.upsert({ email, is_suppressed: true })],
  ["in lower case", write.v1.customers.upsert({ email, email_opt_in: "unsubscribed" as "UNSUBSCRIBED" })],
  [
    "of the phone",
    write.v1.customers.upsert({ email, email_opt_in: "SUBSCRIBED", phone_opt_in: "UNSUBSCRIBED" }),
  ],
  ["in v2", write.v2.contacts.upsert(v2Contact(email, "unsubscribed"))],
  ["in the second write", [upsert(row(1)), upsert(refusal(1))]],
  [
    "in a custom request",
    write.v1.request({ method: "POST", path: "/api/v1/customer/create", body: { ...refusal(1) } }),
  ],
])("A refusal is one in any of its forms: %s", async (_, writes) => {
  const { audience } = createFixture();

  const run = audience.bulk([0, 1], (index) => (index === 0 ? upsert(row(0)) : writes), options);

  expect(await order(run)).toEqual({ indices: [1, 0] });
});

it("Rows that cannot be read come with the others, after those with a refusal", async () => {
  const { audience } = createFixture();
  const rows = [{ ...row(0), email: "" }, null as unknown as Row, refusal(2)];

  const { results } = await collectRun(audience.bulk(rows, upsert, { ...options, key }));

  expect(results.map(({ index, status }) => [index, status])).toEqual([
    [2, "succeeded"],
    [0, "invalid"],
    [1, "failed"],
  ]);
});

describe("Rows that can be gone through only once", () => {
  const once = () => {
    const iterator = source().values();
    return { size: 5, [Symbol.iterator]: () => iterator };
  };
  const shared = source().values();

  it.each<[string, BulkRows<Row>]>([
    ["though they have a size", once()],
    ["though a function gives them", () => shared],
  ])("are told with a ConfigurationError, %s, and lose nothing", async (_, rows) => {
    const { audience, emails } = createFixture();
    const checkpoint = new MemoryCheckpoint();

    const first = await order(audience.bulk(rows, upsert, { ...options, key, checkpoint }));
    const sent = emails();
    const next = await audience.bulk(source, upsert, { ...options, key, checkpoint });

    const message = expect.stringContaining("as in () => rows()") as string;
    expect(first.error).toMatchObject({ code: "configuration", message, outcome: "unknown" });
    expect(sent).toEqual([refusal(1).email, refusal(3).email]);
    expect(next).toMatchObject({ succeeded: 3, skipped: 2 });
  });

  it("are nothing to tell of where there are none", async () => {
    const { audience } = createFixture();
    const none = { size: 0, [Symbol.iterator]: () => [].values() };

    expect(await audience.bulk<Row, Write>(none, upsert)).toMatchObject({ total: 0 });
    expect(await audience.bulk<Row, Write>(() => [], upsert)).toMatchObject({ total: 0 });
  });
});

it.each<[string, (row: Row) => Write]>([
  ["says something else", (each) => write.v1.customers.upsert({ email: each.email, city: "Paris" })],
  [
    "throws",
    () => {
      throw new Error("the table is away");
    },
  ],
])("A row has one result, also where its function %s in the second pass", async (_, laterWrite) => {
  for (const keyOption of [{}, { key }]) {
    const { audience, emails } = createFixture();
    const asked = new Set<string>();
    const toWrite = (each: Row) => {
      const isAskedAgain = asked.has(each.email) && each.email_opt_in === "UNSUBSCRIBED";
      asked.add(each.email);
      return isAskedAgain ? laterWrite(each) : upsert(each);
    };

    const { indices } = await order(audience.bulk(source, toWrite, { ...options, ...keyOption }));

    expect(indices).toEqual([1, 3, 0, 2, 4]);
    expect(emails()).toEqual(indices.map((index) => row(index).email));
  }
});

it("The number of rows that a function gives is known once they were gone through", async () => {
  const { audience } = createFixture();
  const totals: (number | undefined)[] = [];
  const onProgress = ({ total }: BulkProgress) => totals.push(total);

  await audience.bulk(generated, upsert, { ...options, onProgress });

  expect(totals).toEqual([undefined, undefined, 5, 5, 5]);
});

it("A run that ends in the first pass asks for no second one", async () => {
  const { audience, mock } = createFixture();
  let passes = 0;
  const stop = new AbortController();
  const rows = function* () {
    passes++;
    yield* source();
  };
  const run = audience.bulk(rows, upsert, { ...options, signal: stop.signal });

  const statuses: string[] = [];
  await expect(
    (async () => {
      for await (const { status } of run) {
        statuses.push(status);
        stop.abort();
      }
    })(),
  ).rejects.toMatchObject({ code: "aborted" });
  await flushEventLoop();

  expect({ passes, statuses, requests: mock.requests.length }).toEqual({
    passes: 1,
    statuses: ["succeeded"],
    requests: 1,
  });
});
