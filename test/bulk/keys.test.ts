import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigurationError, type Write, write } from "audience-sdk";
import { fileCheckpoint } from "audience-sdk/checkpoint";
import { describe, expect, it, onTestFinished } from "vitest";
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

/** A promise is made where it is asked for, as its rejection is handled there. */
const valueOf = (given: unknown): unknown =>
  typeof given === "function" ? (given as () => unknown)() : given;

describe("A row's key", () => {
  it.each([
    ["", "an empty string"],
    [null, "null"],
    [7, "a number"],
    [undefined, "undefined"],
    [() => Promise.reject(new Error("later")), "a Promise"],
  ])("is a non-empty string; a row with another one, as %j, is invalid", async (given, kind) => {
    const { audience, mock } = createFixture();
    const keyOf = ({ email }: Row) => (email === row(0).email ? (valueOf(given) as string) : email);

    const { results, error } = await collectRun(
      audience.bulk(rows(2), upsert, { key: keyOf, concurrency: 1 }),
    );

    const message = `the key function must return a string that names the row, not ${kind}: such as String(row.id)`;
    const issues = [{ path: [], code: "no_key", message }];
    expect(results).toMatchObject([
      { key: "0", status: "invalid", error: { issues } },
      { status: "succeeded" },
    ]);
    expect(error).toBeUndefined();
    expect(mock.requests).toHaveLength(1);
  });

  it.each([
    ["another error of this package", new ConfigurationError("not configured")],
    ["any other error", new TypeError("no such column")],
  ])("whose function throws %s fails the row, and is passed to stopWhen", async (_, thrown) => {
    const { audience } = createFixture();
    const seen: unknown[] = [];
    const keyOf = () => {
      throw thrown;
    };

    const { results } = await collectRun(
      audience.bulk(rows(1), upsert, { key: keyOf, stopWhen: (error) => seen.push(error) === 0 }),
    );

    expect(results).toMatchObject([{ status: "failed", error: thrown }]);
    expect(seen).toEqual([thrown]);
  });
});

describe("The fingerprint of a row", () => {
  const contact = (fields: object, options = {}) =>
    write.v1.customers.upsert({ email: "ada@example.com", ...fields }, options);
  const add = (listId: string, options = {}) => write.v1.contactGroups.addContact(listId, row(0), options);
  const ada = contact({ first_name: "Ada", last_name: "L" });
  const otherOptions = { timeoutMs: 5_000, repeatable: true, headers: { "x-a": "b" } };

  it.each<[string, Write | Write[], Write | Write[], "skipped" | "succeeded"]>([
    [
      "the same, with its keys in another order",
      ada,
      contact({ last_name: "L", first_name: "Ada" }),
      "skipped",
    ],
    [
      "another value, as by a changed mapping",
      ada,
      contact({ first_name: "Eve", last_name: "L" }),
      "succeeded",
    ],
    ["other options", contact({}), contact({}, otherOptions), "skipped"],
    ["another operation", upsert(row(0)), add("mock-list"), "succeeded"],
    ["another list", add("mock-list"), add("other-list"), "succeeded"],
    ["another `consent`", add("mock-list"), add("mock-list", { consent: "service-decides" }), "succeeded"],
    ["one write more", upsert(row(0)), [upsert(row(0)), upsert(row(0))], "succeeded"],
  ])("is that of its writes: %s", async (_, monday, tuesday, status) => {
    const lists = ["mock-list", "other-list"].map((id) => ({ id, name: id }));
    const { audience } = createFixture({
      organizations: [{ id: "acme", apiKeys: ["mock-api-key"], lists, appId: "app" }],
    });
    const options = { key: String, checkpoint: new MemoryCheckpoint() };
    await audience.bulk([0], () => monday, options);

    const { results } = await collectRun(audience.bulk([0], () => tuesday, options));

    expect(results.map((result) => result.status)).toEqual([status]);
  });

  it.each<[string, (item: Row & { city?: string }) => unknown, object, "skipped" | "succeeded"]>([
    ["what it leaves out is no change", ({ email }) => email, { city: "Paris" }, "skipped"],
    ["what it names is one", ({ city }) => ({ city }), { city: "Paris" }, "succeeded"],
    [
      "and a consent always, so that no opt-out is hidden",
      ({ city }) => city ?? null,
      { email_opt_in: "UNSUBSCRIBED" },
      "succeeded",
    ],
  ])(
    "is what `fingerprint` gives, besides the consents of the writes: %s",
    async (_, fingerprint, change, status) => {
      const { audience } = createFixture();
      const options = { key, fingerprint, checkpoint: new MemoryCheckpoint() };
      const toWrite = ({ city, ...fields }: Row & { city?: string }) =>
        write.v1.customers.upsert({ ...fields, ...(city && { first_name: city }) });
      await audience.bulk(rows(1), toWrite, options);

      const { results } = await collectRun(audience.bulk([{ ...row(0), ...change }], toWrite, options));

      expect(results.map((result) => result.status)).toEqual([status]);
    },
  );

  const cycle: unknown[] = [];
  cycle.push(cycle);
  it.each<[unknown, unknown]>([
    [1n, { message: "JSON cannot carry a BigInt" }],
    [() => Promise.reject(new Error("later")), { message: "JSON cannot carry a Promise: await it" }],
    [undefined, { message: "JSON cannot carry undefined" }],
    [() => () => 1, { message: "JSON cannot carry a function" }],
    [() => [null, cycle], { path: ["fingerprint", 1, 0] }],
    // JSON would write each of these as null: a changed row would have the fingerprint of the night before.
    [NaN, { message: "JSON cannot carry NaN" }],
    [new Date("30.11.2026"), { message: "is an invalid Date" }],
    [[undefined], { path: ["fingerprint", 0] }],
    [
      { at: { toJSON: () => null } },
      {
        path: ["fingerprint", "at"],
        message: "its toJSON gives nothing, as of an invalid date",
      },
    ],
  ])("must be a JSON value, else the row is invalid: %o", async (given, issue) => {
    const { audience, mock } = createFixture();
    const options = { key, fingerprint: () => valueOf(given), checkpoint: new MemoryCheckpoint() };

    const { results } = await collectRun(audience.bulk(rows(1), upsert, options));

    expect(results).toMatchObject([
      { status: "invalid", error: { issues: [{ path: ["fingerprint"], ...(issue as object) }] } },
    ]);
    expect(mock.requests).toEqual([]);
  });

  it("may hold null, a Date and members that are undefined, which JSON leaves out", async () => {
    const { audience } = createFixture();
    const day = new Date("2026-11-30");
    const checkpoint = new MemoryCheckpoint();

    const ends = [];
    for (const given of [null, { day, city: undefined, left: null }, { left: null, day: day.toJSON() }]) {
      const run = audience.bulk(rows(1), upsert, { key, fingerprint: () => given, checkpoint });
      ends.push(...(await collectRun(run)).results);
    }

    expect(ends.map(({ status }) => status)).toEqual(["succeeded", "succeeded", "skipped"]);
  });
});

it("A row that JSON cannot carry is invalid by its endpoint's rule, which its check tells, too", async () => {
  const { audience, mock } = createFixture();
  const options = { key, checkpoint: new MemoryCheckpoint() };
  const wrong = (item: Row) => write.v1.customers.upsert({ ...item, first_name: 1n as never });

  const { results } = await collectRun(audience.bulk(rows(1), wrong, options));

  const issues = [{ path: ["first_name"] }];
  expect(results).toMatchObject([{ status: "invalid", error: { issues } }]);
  expect(await audience.bulk.check(rows(1), wrong, options)).toMatchObject({ invalid: [{ issues }] });
  expect(mock.requests).toEqual([]);
});

it("A changed row that is invalid is told each night, and skipped once it has changed back", async () => {
  const { audience, mock } = createFixture();
  const options = { key, checkpoint: new MemoryCheckpoint() };
  const named = (first_name: string): Row & { first_name: string } => ({ ...row(0), first_name });

  const ends = [];
  for (const name of ["Ada", "x".repeat(101), "x".repeat(101), "Ada"])
    ends.push(...(await collectRun(audience.bulk([named(name)], upsert, options))).results);

  expect(ends.map(({ status }) => status)).toEqual(["succeeded", "invalid", "invalid", "skipped"]);
  expect(options.checkpoint.entries.size).toBe(2);
  expect(mock.requests).toHaveLength(1);
});

it.each([undefined, new MemoryCheckpoint()])(
  "Of two rows with one key the second waits for the end of the first, also where it names another contact, and other rows pass: %o",
  async (checkpoint) => {
    const { mock, audience } = createFixture();
    const gate = gated(mock.clientOptions.fetch);
    const keyOf = ({ email }: Row) => (email === row(2).email ? "b" : "a");

    const ended = audience
      .withOptions({ fetch: gate.fetch })
      .bulk(rows(3), upsert, { key: keyOf, checkpoint })
      .summary();
    await until(() => gate.sent.length === 2);
    await flushEventLoop();
    expect(gate.sent).toHaveLength(2);
    gate.open();

    expect(await ended).toMatchObject({ succeeded: 3 });
    expect(mock.requests.findLast(({ method }) => method === "POST")?.body).toEqual(row(1));
  },
);

describe("Without a key a checkpoint serves one run", () => {
  it.each([
    ["in memory", async () => new MemoryCheckpoint()],
    [
      "a file",
      async () => {
        const folder = await mkdtemp(join(tmpdir(), "keyless-"));
        onTestFinished(() => rm(folder, { recursive: true }));
        return fileCheckpoint(join(folder, "import.ckpt"));
      },
    ],
  ])("after a complete run, also with a failed row, the next run sends every row: %s", async (_, create) => {
    const { audience, mock } = createFixture({ faults: [{ kind: "redirect", times: 1 }] });
    const checkpoint = await create();

    const runs = [];
    for (let night = 1; night <= 3; night++) runs.push(await audience.bulk(rows(5), upsert, { checkpoint }));

    expect(runs).toMatchObject([{ succeeded: 4, failed: 1 }, { succeeded: 5 }, { succeeded: 5 }]);
    expect(mock.requests).toHaveLength(15);
  });

  it("after an abort, the next run resumes: equal rows are told apart", async () => {
    const { audience, mock } = createFixture();
    const checkpoint = new MemoryCheckpoint();
    const source = [...rows(3), ...rows(3)];
    for await (const { index } of audience.bulk(source, upsert, { checkpoint, concurrency: 1 }))
      if (index === 3) break;

    const second = await audience.bulk(source, upsert, { checkpoint });

    expect(second.skipped).toBeGreaterThanOrEqual(4);
    expect(second.skipped + second.succeeded).toBe(6);
    expect(mock.requests.filter(({ method }) => method === "POST")).toHaveLength(6);
    expect(await audience.bulk(source, upsert, { checkpoint })).toMatchObject({ succeeded: 6 });
  });

  it.each([
    ["with", "without", { key }, {}],
    ["without", "with", {}, { key }],
  ])("a checkpoint that was written %s a key is refused %s one", async (before, _, options, others) => {
    const { audience, mock } = createFixture();
    const checkpoint = new MemoryCheckpoint();
    for await (const first of audience.bulk(rows(3), upsert, { checkpoint, concurrency: 1, ...options }))
      if (first.status === "succeeded") break;
    const sent = mock.requests.length;
    const { entries } = checkpoint;

    const { error } = await collectRun(audience.bulk(rows(3), upsert, { checkpoint, ...others }));

    const message = `The checkpoint was written ${before} a \`key\`. Run it ${before} a \`key\` again, or name another checkpoint.`;
    expect(error).toEqual(new ConfigurationError(message));
    expect([mock.requests.length, checkpoint.entries, checkpoint.log.at(-1)]).toEqual([
      sent,
      entries,
      "close",
    ]);
  });
});
