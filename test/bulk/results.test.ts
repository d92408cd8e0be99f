import { rejects } from "node:assert/strict";
import { type BulkRun, ConfigurationError, write } from "audience-sdk";
import { describe, expect, it } from "vitest";
import { failureOf } from "../transport/failure.ts";
import { collectRun, createFixture, key, row, type Row, rows } from "./fixture.ts";

const three = () => [row(0), { ...row(1), email: "nobody" }, row(2)];

describe("Each row has one result", () => {
  it("with its index, its key, the row and the value of its call", async () => {
    const { audience, upsert, emails } = createFixture();

    const { results } = await collectRun(audience.bulk(rows(3), upsert, { key }));

    expect(results.toSorted((a, b) => a.index - b.index)).toEqual(
      rows(3).map((item, index) => ({
        index,
        key: item.email,
        item,
        status: "succeeded",
        value: expect.objectContaining({ type: "profile" }),
      })),
    );
    expect(emails()).toEqual(rows(3).map(({ email }) => email));
  });

  it("named by its index where no key is given", async () => {
    const { audience, upsert } = createFixture();

    const { results } = await collectRun(audience.bulk(rows(2), upsert, { concurrency: 1 }));

    expect(results.map((result) => result.key)).toEqual(["0", "1"]);
  });

  it.each([[undefined], [null], ["ada@example.com"], [{ identifiers: "ada@example.com" }]])(
    "invalid, and not sent, where its contact is %j, in either family",
    async (contact) => {
      const { audience, mock } = createFixture();
      const given = JSON.parse(JSON.stringify({ contact })) as { contact: never };
      const writes = [write.v1.customers.upsert(given.contact), write.v2.contacts.upsert(given.contact)];

      const { results } = await collectRun(audience.bulk(writes, (one) => one));

      expect(results.map(({ status }) => status)).toEqual(["invalid", "invalid"]);
      expect(mock.requests).toEqual([]);
    },
  );
});

describe("The summary", () => {
  const expected = {
    total: 3,
    succeeded: 2,
    invalid: 1,
    failed: 0,
    unknown: 0,
    skipped: 0,
    superseded: 0,
    kept: 0,
    durationMs: expect.any(Number),
  };

  it.each<[string, (run: BulkRun<Row, unknown>) => unknown]>([
    ["executes the run", () => undefined],
    ["comes after the loop", collectRun],
    [
      "may be requested before the loop, which still gets every result",
      async (run) => {
        const [, { results }] = await Promise.all([run.summary(), collectRun(run)]);
        expect(results).toHaveLength(3);
      },
    ],
  ])("is the value of an awaited run, on each request the same: it %s", async (_, begin) => {
    const { audience, mock, upsert } = createFixture();
    const run = audience.bulk(three(), upsert);
    await begin(run);

    const summaries = [...(await Promise.all([run.summary(), run.summary()])), await run];

    expect(summaries).toEqual([expected, expected, expected]);
    expect(run.counts).toEqual(expected);
    expect(mock.requests).toHaveLength(2);
  });

  it("of a loop that was left early covers the rows that had ended, as `counts` does at any time", async () => {
    const { audience, upsert, emails } = createFixture();
    const run = audience.bulk(rows(100), upsert, { concurrency: 3 });
    const before = run.counts;

    for await (const _ of run) {
      expect(run.counts.total).toBeGreaterThan(0);
      break;
    }

    const { total, succeeded } = await run.summary();
    expect(before).toMatchObject({ total: 0, succeeded: 0, durationMs: 0 });
    expect(run.counts).toMatchObject({ total, succeeded: emails().length });
    expect(succeeded).toBe(emails().length);
    expect(total).toBeLessThanOrEqual(4);
  });
});

describe("A run", () => {
  it("is awaited as a promise is, with catch() and finally() too", async () => {
    const { audience, upsert, emails } = createFixture();
    const log: string[] = [];
    const noWrite = () => audience.bulk(rows(1), () => undefined as never);

    const summary = await audience.bulk(rows(2), upsert).finally(() => log.push("ended"));
    const caught = await noWrite().catch((error: unknown) => error);

    expect(summary).toMatchObject({ succeeded: 2 });
    expect(log).toEqual(["ended"]);
    expect(caught).toBeInstanceOf(ConfigurationError);
    await rejects(noWrite() as unknown as Promise<unknown>, caught as Error);
    expect(emails()).toHaveLength(2);
  });

  it("can be iterated once", async () => {
    const { audience, upsert, mock } = createFixture();
    const run = audience.bulk(rows(2), upsert);
    await run.summary();

    expect((await collectRun(run)).error).toEqual(new ConfigurationError("A bulk run is iterated once."));
    expect(mock.requests).toHaveLength(2);
  });

  it.each([
    [{ concurrency: 0 }, /concurrency/],
    [{ total: -1 }, /total/],
    [{ key: "email" }, /key/],
    [{ signal: {} }, /signal/],
    [{ snapshot: {} }, /snapshot must be a snapshot, such as await openSnapshot\(path\)/],
    [{ checkConsent: "no" }, /checkConsent/],
    [{ checkpoint: {} }, /checkpoint must be a Checkpoint, such as fileCheckpoint/],
    [{ checkpoint: "import.ckpt" }, /checkpoint must be a Checkpoint, such as fileCheckpoint/],
    [{ checkpoint: null }, /checkpoint must be a Checkpoint, such as fileCheckpoint/],
    [null, /options of bulk/],
  ])("refuses and names invalid options: %j", (options, message) => {
    const { audience, upsert } = createFixture();

    expect(() => audience.bulk(rows(1), upsert, options as never)).toThrow(message);
    expect(() => audience.bulk(rows(1), upsert, options as never)).toThrow(ConfigurationError);
  });

  it("refuses rows that cannot be iterated, and what is no function", async () => {
    const { audience, upsert } = createFixture();
    const notIterable = (what: string) =>
      new ConfigurationError(`The rows of bulk must be an array or another iterable, not ${what}.`);

    for (const [given, what] of [
      [{ length: 3 }, "an object"],
      ["abc", "a string"],
      [Promise.resolve([]), "a Promise: await it"],
    ] as const)
      expect(() => audience.bulk(given as never, upsert)).toThrow(notIterable(what));
    expect(await failureOf(audience.bulk(() => "abc" as never, upsert).summary())).toEqual(
      notIterable("a string"),
    );
    expect(() => audience.bulk(rows(1), undefined as never)).toThrow(
      new ConfigurationError("The function of bulk must be a function, not undefined."),
    );
  });
});

it("Rows wait longer than the client's maxWaitMs and deadlineMs, which are for calls that somebody awaits", async () => {
  const { audience, upsert } = createFixture(
    {},
    { rateLimiter: { windows: [{ limit: 1, intervalMs: 30 }], maxWaitMs: 0 }, deadlineMs: 40 },
  );

  expect(await audience.bulk(rows(4), upsert)).toMatchObject({ succeeded: 4 });
});

it("A row's own options are those of its write: it fails by its own maxRetries, and others do not", async () => {
  const { audience, mock } = createFixture({ faults: [{ kind: "500-before", times: 2 }] });
  const toWrite = (item: Row, index: number) =>
    write.v1.customers.upsert(item, index === 0 ? { maxRetries: 0 } : {});

  const { results } = await collectRun(audience.bulk(rows(2), toWrite, { concurrency: 1 }));

  expect(results.map(({ status }) => status)).toEqual(["unknown", "succeeded"]);
  expect(mock.requests).toHaveLength(3);
});
