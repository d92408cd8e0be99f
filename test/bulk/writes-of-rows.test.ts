import { type BulkFunction, ConfigurationError, ValidationError, type Write, write } from "audience-sdk";
import { describe, expect, it } from "vitest";
import { collectRun, createFixture, key, row, type Row, rows, upsert } from "./fixture.ts";
import { MemoryCheckpoint } from "./memory-checkpoint.ts";

const add = (contact: Row) => write.v1.contactGroups.addContact("mock-list", contact);
const signedUp = ({ email }: Row) =>
  write.v1.events.send({
    eventName: "signed_up",
    uniqueIdentifier: `signed-up-${email}`,
    contact: { email },
  });
/** Of the writes that arrived. */
const operations = ({ mock }: ReturnType<typeof createFixture>) =>
  mock.requests.filter(({ method }) => method !== "GET").map(({ operation }) => operation);

describe("The function of bulk gives", () => {
  const profile = expect.objectContaining({ type: "profile" });
  const added = expect.objectContaining({ message: expect.any(String) });

  it.each<[string, BulkFunction<Row, Write | Write[]>, unknown, number]>([
    ["a write", upsert, profile, 1],
    ["a promise of one", async (item) => upsert(item), profile, 1],
    ["an array of one: so is its value", (item) => [upsert(item)], [profile], 1],
    ["several", (item) => [upsert(item), add(item)], [profile, added], 2],
    ["a promise of several", async (item) => [upsert(item), add(item)], [profile, added], 2],
    ["a write that came as JSON", (item) => JSON.parse(JSON.stringify(upsert(item))) as Write, profile, 1],
  ])("%s", async (_, toWrites, value, count) => {
    const { audience, mock } = createFixture();

    const { results } = await collectRun(audience.bulk(rows(1), toWrites));

    expect(results).toMatchObject([{ status: "succeeded", value }]);
    expect(mock.requests).toHaveLength(count);
  });

  it("none: the row is skipped, and the next night asks again", async () => {
    const { audience, mock } = createFixture();
    const options = { key, checkpoint: new MemoryCheckpoint() };
    const changed = (item: Row) => (item.email_opt_in === "UNSUBSCRIBED" ? upsert(item) : []);
    const tuesday: Row[] = [row(0), { ...row(1), email_opt_in: "UNSUBSCRIBED" }];

    const { results } = await collectRun(audience.bulk(rows(2), changed, options));

    expect(results.map(({ status, value }) => [status, value])).toEqual(
      rows(2).map(() => ["skipped", undefined]),
    );
    expect(await audience.bulk(tuesday, changed, options)).toMatchObject({ skipped: 1, succeeded: 1 });
    expect(mock.requests).toHaveLength(1);
  });

  it.each<[string, (item: Row, audience: ReturnType<typeof createFixture>["audience"]) => unknown, string]>([
    ["nothing, as after a forgotten `return`", (item) => void upsert(item), "undefined"],
    ["a promise of nothing", async (item) => void upsert(item), "undefined"],
    ["null", () => null, "null"],
    ["the row", (item) => item, "an object"],
    ["an array that holds something else", (item) => [upsert(item), 1], "a number"],
    ["an array within an array", (item) => [[upsert(item)]], "an array"],
  ])("nothing else, such as %s: the run ends, and nothing is sent", async (what, toWrites, kind) => {
    const { audience, mock } = createFixture();
    const checkpoint = new MemoryCheckpoint();
    const given = (item: Row) => toWrites(item, audience) as Write;

    const { error, results } = await collectRun(
      audience.bulk(rows(3), given, { checkpoint, key, stopWhen: () => false }),
    );

    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error).toMatchObject({
      // What it has awaited may be the value of a call.
      outcome: what.startsWith("a promise") ? "unknown" : "not-sent",
      message: expect.stringMatching(
        new RegExp(
          `^The function of bulk must return a write, an array of writes, or \\[\\] for none, not ${kind}: `,
        ),
      ),
    });
    expect([results, mock.requests]).toEqual([[], []]);
    await expect(audience.bulk.check(rows(3), given)).rejects.toThrow((error as Error).message);
    expect(await audience.bulk(rows(3), upsert, { checkpoint, key })).toMatchObject({ succeeded: 3 });
  });

  type Calls = ReturnType<typeof createFixture>["audience"]["v1"]["customers"];
  const promise = "not the promise of a call, as audience.v1.… makes, which may have been sent";
  it.each<[string, (customers: Calls, item: Row) => unknown, string]>([
    ["the promise of a call", (customers, item) => customers.upsert(item), promise],
    ["the promise of a call that fails", (customers) => customers.get("nobody"), promise],
    [
      "the value of a call that it has awaited",
      async (customers, item) => await customers.upsert(item),
      "not an object: ",
    ],
  ])("nor %s: the error says that it may have been sent", async (_, call, message) => {
    const { audience, mock } = createFixture();
    const given = (item: Row) => call(audience.v1.customers, item) as never;

    const { error, results } = await collectRun(audience.bulk(rows(1), given));

    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error).toMatchObject({ outcome: "unknown", message: expect.stringContaining(message) });
    expect([results, mock.requests.length]).toEqual([[], 1]);
  });

  const invalid = new ValidationError([{ path: ["email"], code: "custom", message: "is no address" }]);
  it.each([
    ["a ValidationError", invalid, "invalid"],
    ["any other error", new TypeError("no such column"), "failed"],
    ["undefined", undefined, "failed"],
    ["an error of this package", new ConfigurationError("not configured"), "failed"],
  ])("an end to its row where it throws, at once or later: %s", async (_, thrown, status) => {
    const { audience, mock } = createFixture();
    const toWrites = (item: Row, index: number) => {
      if (index === 2) return upsert(item);
      // oxlint-disable-next-line typescript/only-throw-error -- as a caller's own code may.
      if (index === 0) throw thrown;
      return Promise.reject(thrown);
    };

    const { error, results } = await collectRun(
      audience.bulk(rows(3), toWrites, { concurrency: 1, stopWhen: () => false }),
    );

    expect(results.map((result) => [result.status, result.error])).toEqual([
      [status, thrown],
      [status, thrown],
      ["succeeded", undefined],
    ]);
    expect(error).toBeUndefined();
    expect(mock.requests).toHaveLength(1);
  });
});

describe("Several writes of a row", () => {
  it.each([
    ["redirect", "failed", "succeeded"],
    ["500-before", "unknown", "succeeded"],
  ] as const)(
    "end with the first that fails, by its outcome (%s), and the next night sends all of them",
    async (kind, status, next) => {
      const fault = { kind, operation: "v1.contactGroups.addContact", times: 1 } as const;
      const fixture = createFixture({ faults: [fault] }, { maxRetries: 0 });
      const options = { key, checkpoint: new MemoryCheckpoint() };
      const toWrites = (item: Row) => [upsert(item), add(item), signedUp(item)];

      const { results } = await collectRun(fixture.audience.bulk(rows(1), toWrites, options));
      const sent = operations(fixture);
      const tuesday = await collectRun(fixture.audience.bulk(rows(1), toWrites, options));

      expect(results).toMatchObject([{ status, error: { request: { operation: fault.operation } } }]);
      expect(sent).toEqual(["v1.customers.upsert", "v1.contactGroups.addContact"]);
      expect(tuesday.results.map((result) => result.status)).toEqual([next]);
      expect(operations(fixture)).toHaveLength(5);
    },
  );

  it("are unknown where an earlier one that must not be repeated was carried out, and not sent again", async () => {
    const fault = { kind: "redirect", operation: "v1.customers.upsert", times: 1 } as const;
    const fixture = createFixture({ faults: [fault] });
    const options = { key, checkpoint: new MemoryCheckpoint() };
    const once = { repeatable: false };
    const toWrites = (item: Row) => [
      write.v1.contactGroups.addContact("mock-list", item, once),
      write.v1.customers.upsert(item, once),
    ];

    for (const night of [1, 2]) {
      const { results } = await collectRun(fixture.audience.bulk(rows(1), toWrites, options));
      expect(
        results.map(({ status }) => status),
        `night ${night}`,
      ).toEqual(["unknown"]);
    }
    expect(operations(fixture)).toEqual(["v1.contactGroups.addContact", "v1.customers.upsert"]);
  });

  it("are all validated before the first leaves: the row is invalid with the issues of each", async () => {
    const { audience, mock } = createFixture();
    const toWrites = ({ email }: Row) => [
      write.v1.customers.upsert({ email, is_suppressed: "no" as never }),
      upsert({ email, email_opt_in: "SUBSCRIBED" }),
      write.v1.events.send({ eventName: "", contact: { email } }),
    ];

    const { results } = await collectRun(audience.bulk(rows(1), toWrites));

    const { issues } = results[0]!.error as ValidationError;
    expect(results.map(({ status }) => status)).toEqual(["invalid"]);
    expect(issues.map(({ path }) => path)).toEqual([
      [0, "is_suppressed"],
      [2, "eventName"],
    ]);
    expect(mock.requests).toEqual([]);
  });

  const [contact, phone] = [write.v1.customers.upsert, "+15550100"];
  const both = { email: "ada@example.com", email_opt_in: "SUBSCRIBED", phone } as const;
  it.each<[string, (id: string) => Write[], number[]]>([
    [
      "one e-mail, in any case",
      () => [upsert(row(0)), signedUp({ ...row(0), email: "ROW-0@example.com" })],
      [],
    ],
    ["an e-mail, then a phone", () => [contact(both), contact({ phone })], []],
    [
      "a contactUUID",
      (id) => [0, 1].map(() => write.v1.events.send({ eventName: "e", contactUUID: id })),
      [],
    ],
    ["no contact with one before", () => [upsert(row(0)), upsert(row(1)), signedUp(row(0))], [1]],
    [
      "a contact only with one after",
      () => [upsert(row(0)), upsert(row(1)), contact({ ...row(1), phone })],
      [1],
    ],
  ])("each share a contact with one before, else the row is invalid: %s", async (_, toWrites, unrelated) => {
    const { audience, mock } = createFixture();
    const { id } = await audience.v1.customers.upsert(row(0));

    const { results } = await collectRun(audience.bulk([0], () => toWrites(id)));

    const [{ error, status }] = results as [(typeof results)[0]];
    const issues = error instanceof ValidationError ? error.issues : [];
    expect(issues.map(({ code, path }) => [code, path])).toEqual(
      unrelated.map((index) => ["unrelated", [index]]),
    );
    expect(status).toBe(unrelated.length === 0 ? "succeeded" : "invalid");
    expect(mock.requests.length > 1).toBe(unrelated.length === 0);
  });
});
