import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  AudienceClient,
  type BulkRequest,
  ConfigurationError,
  RateLimiter,
  type V1Contact,
  type V2Contact,
  ValidationError,
} from "audience-sdk";
import { fileCheckpoint } from "audience-sdk/checkpoint";
import type { MockService } from "audience-sdk/mock";
import { v1ContactSchema } from "audience-sdk/schemas";
import { describe, expect, it, onTestFinished } from "vitest";
import * as z from "zod";
import { createFixture, key, row, type Row, rows, v2Contact } from "./fixture.ts";
import { MemoryCheckpoint } from "./memory-checkpoint.ts";

const failure = (issues: unknown) => ({ success: false, error: { issues } });
const byTheRules = (contact: unknown) => v1ContactSchema.safeParse(contact);

describe("bulk.check", () => {
  it("reports every invalid row with all its issues, and sends nothing", async () => {
    const { audience, mock } = createFixture();
    const items = [row(0), { firstName: "Ada" }, row(2), { ...row(3), phone: "1" }];

    const checked = await audience.bulk.check(items, byTheRules);

    expect(checked).toMatchObject({ total: 4, valid: 2 });
    expect(
      checked.invalid.map(({ index, issues }) => [index, issues.map(({ path }) => path.join("."))]),
    ).toEqual([
      [1, expect.arrayContaining(["firstName"])],
      [3, ["phone"]],
    ]);
    expect(mock.requests).toEqual([]);
  });

  it("estimates the duration of the valid rows at the rate limit", async () => {
    const { audience } = createFixture({}, { rateLimiter: new RateLimiter() });

    const { estimateMs } = await audience.bulk.check(rows(1_500), byTheRules);

    // 900 rows take at least 8 min 8 s, and the rows after them wait for the next hour.
    expect(estimateMs).toBeGreaterThan(3_600_000);
    expect(estimateMs).toBeLessThan(3_600_000 + 7 * 60_000);
  });

  it("estimates no time for invalid rows", async () => {
    const { audience } = createFixture({}, { rateLimiter: { windows: [{ limit: 1, intervalMs: 60_000 }] } });

    const { estimateMs } = await audience.bulk.check([row(0), { ...row(1), phone: "1" }, row(2)], byTheRules);

    expect(estimateMs).toBe(audience.rateLimiter!.estimateMs(2, { priority: 9 }));
  });

  it("reads rows one by one, and needs constant memory for valid rows", async () => {
    const { audience } = createFixture();
    async function* source() {
      yield* rows(5);
    }

    expect(await audience.bulk.check(source(), byTheRules)).toEqual({
      total: 5,
      valid: 5,
      invalid: [],
      estimateMs: 0,
    });
  });

  it.each([
    [
      "an Error",
      new Error("not today"),
      { path: [], code: "unreadable", message: "the row cannot be checked: not today" },
    ],
    ["a text", "not today", { code: "unreadable", message: "the row cannot be checked: not today" }],
    [
      "a ValidationError",
      new ValidationError([{ path: ["email"], code: "banned", message: "not her" }]),
      { path: ["email"], code: "banned", message: "not her" },
    ],
  ])("a row whose check throws %s is invalid, and its issues name the reason", async (_, thrown, issue) => {
    const { audience } = createFixture();

    const { invalid } = await audience.bulk.check([1], () => {
      // oxlint-disable-next-line typescript/only-throw-error -- as a caller's own code may.
      throw thrown;
    });

    expect(invalid).toMatchObject([{ index: 0, issues: [issue] }]);
  });

  it("a check may return a ValidationError as its error", async () => {
    const { audience } = createFixture();
    const error = new ValidationError([{ path: ["email"], code: "banned", message: "not her" }]);

    const { invalid } = await audience.bulk.check([1], () => ({ success: false, error }));

    expect(invalid).toEqual([{ index: 0, issues: error.issues }]);
  });

  it("a schema of the caller may be the check: its issues are counted by field", async () => {
    const { audience } = createFixture();
    const part = Symbol("part");
    const schema = z.object({ size: z.union([z.string(), z.number()]), [part]: z.string() });

    const { invalid } = await audience.bulk.check([{ size: true }], (item) => schema.safeParse(item));

    expect(invalid[0]?.issues).toMatchObject([
      { path: ["size"], code: "invalid_type" },
      { path: ["Symbol(part)"], code: "invalid_type" },
    ]);
  });

  const expected = "The check of bulk.check must return { success, error: { issues } }, as safeParse does.";
  it.each([
    ["nothing", () => undefined],
    ["null", () => null],
    ["true", () => true],
    ["a promise", async () => ({ success: true })],
    ["a failure without issues", () => ({ success: false })],
    ["a failure whose issues are a string", () => failure("none")],
    ["a failure whose issues are numbers", () => failure([5])],
    ["a failure with an issue that is null", () => failure([{ path: [] }, null])],
    ["a failure whose issues have no path", () => failure([{}])],
    ["a failure with an issue whose path is no array", () => failure([{ path: [] }, { path: "email" }])],
  ])("a check that returns %s is a ConfigurationError, and the source is closed", async (_, check) => {
    const { audience } = createFixture();
    let isClosed = false;
    function* source() {
      try {
        yield* rows(3);
      } finally {
        isClosed = true;
      }
    }

    await expect(audience.bulk.check(source(), check as never)).rejects.toEqual(
      new ConfigurationError(expected),
    );
    expect(isClosed).toBe(true);
  });

  it("the error of a source that fails is passed on", async () => {
    const { audience } = createFixture();
    // eslint-disable-next-line require-yield
    const source = function* (): Generator<object> {
      throw new Error("the file broke off");
    };

    await expect(audience.bulk.check(source(), byTheRules)).rejects.toThrow("the file broke off");
  });
});

it.each([
  ["undefined", undefined],
  ["an object", v1ContactSchema],
])("bulk.check with %s as its check is refused, and no row is checked", async (kind, check) => {
  const { audience } = createFixture();
  // A caller in JavaScript can pass this.
  await expect(
    audience.bulk.check(rows(1), check as unknown as () => { success: true }),
  ).rejects.toMatchObject({
    code: "configuration",
    message: `The check of bulk.check must be a function, not ${kind}.`,
  });
});

/** A source that fails after these rows. */
function* broken(given: Row[]): Generator<Row> {
  yield* given;
  throw new Error("the file broke off");
}

describe("bulk.check with a checkpoint", () => {
  const check = (contact: Row) => v1ContactSchema.safeParse(contact);
  const named = (index: number, first_name: string) => ({ ...row(index), first_name });
  /** A call a minute: so an estimate tells the number of calls. */
  const rateLimiter = { windows: [{ limit: 1, intervalMs: 60_000 }], reserve: 0 };
  /** A client of the same service that has not called yet. */
  const idleClient = ({ clientOptions }: MockService) =>
    new AudienceClient({ ...clientOptions, rateLimiter });
  /** Its estimate of so many calls. */
  const timeOf = (calls: number) => new RateLimiter(rateLimiter).estimateMs(calls, { priority: 9 });

  it("tells which rows are new, changed, unchanged and superseded, and sends nothing", async () => {
    const { audience, mock, upsert } = createFixture();
    const checkpoint = new MemoryCheckpoint();
    const options = { key, checkpoint };
    await audience.bulk(rows(4), upsert, options);
    const { contacts } = mock.organization("mock-organization");
    mock.unsubscribe(contacts[3]!.id);
    await audience.bulk([row(0), row(1), row(2), named(3, "Eve")], upsert, options);
    const before = { requests: mock.requests.length, lines: checkpoint.lines };

    const tonight = await audience.bulk.check(
      [row(0), row(1), named(2, "Bob"), named(3, "Eve"), row(4), { ...row(5), email: "no address" }],
      check,
      options,
    );

    expect(tonight).toMatchObject({ total: 6, valid: 5, invalid: [{ index: 5 }] });
    expect(tonight).toMatchObject({ new: 1, changed: 1, unchanged: 2, superseded: 1, inDoubt: 0 });
    expect({ requests: mock.requests.length, lines: checkpoint.lines }).toEqual(before);
  });

  it("counts a row without a key as invalid, as a run does, and goes on", async () => {
    const { audience, mock } = createFixture();
    const options = { key, checkpoint: new MemoryCheckpoint() };

    const tonight = await audience.bulk.check(
      [row(0), { ...row(1), email: "" }, row(2)],
      () => ({ success: true }),
      options,
    );

    expect(tonight).toMatchObject({
      total: 3,
      valid: 2,
      invalid: [{ index: 1, issues: [{ code: "no_key" }] }],
      new: 2,
    });
    expect(mock.requests).toEqual([]);
  });

  it("counts a row that failed as new, and one that may have been carried out as in doubt", async () => {
    const { audience, mock, upsert } = createFixture({}, { maxRetries: 0 });
    const options = { key, checkpoint: new MemoryCheckpoint(), concurrency: 1 };
    mock.addFault({ kind: "redirect", operation: "v1.customers.upsert", times: 1 });
    mock.addFault({ kind: "reset-after", operation: "v1.customers.upsert", times: 1 });
    const statuses: string[] = [];
    for await (const { status } of audience.bulk(rows(2), upsert, options)) statuses.push(status);

    const tonight = await audience.bulk.check(rows(2), check, { key, checkpoint: options.checkpoint });

    expect(statuses).toEqual(["failed", "unknown"]);
    expect(tonight).toMatchObject({ new: 1, inDoubt: 1, changed: 0, unchanged: 0, superseded: 0 });
  });

  /** An earlier night of three rows. */
  interface Night {
    readonly world: ReturnType<typeof createFixture>;
    readonly options: { readonly key: typeof key; readonly checkpoint: MemoryCheckpoint };
  }
  const aNight = async ({ world, options }: Night) => {
    await world.audience.bulk(rows(3), world.upsert, options);
  };
  const aNightOfTwoVersions = async ({ world, options }: Night) => {
    await world.audience.bulk([named(0, "Ada"), row(0)], world.upsert, options);
  };
  const aFailedNight = async (night: Night) => {
    night.world.mock.addFault({ kind: "redirect", times: 3 });
    await aNight(night);
  };
  const aNightInDoubt = async (night: Night) => {
    night.world.mock.addFault({ kind: "reset-after", times: 3 });
    await aNight(night);
  };
  const aNightOfMailsInDoubt = async ({ world, options }: Night) => {
    world.mock.addFault({ kind: "reset-after", times: 3 });
    const mailed = (item: Row, request: BulkRequest) =>
      world.audience.v1.customers.upsert({ ...item, double_opt_in: true }, request);
    await world.audience.bulk(rows(3), mailed, options);
  };
  const aNightAndClicks = async (night: Night) => {
    await aNight(night);
    const { audience, mock, upsert } = night.world;
    for (const { id } of mock.organization("mock-organization").contacts) mock.unsubscribe(id);
    await audience.bulk([named(0, "Eve"), named(1, "Eve"), named(2, "Eve")], upsert, night.options);
  };
  const changed = [named(0, "A"), named(1, "B"), named(2, "C")];

  it.each([
    { rule: "a call for a new row", before: aNight, tonight: rows(14).slice(3), calls: 11 },
    { rule: "a look and a call for a changed row", before: aNight, tonight: changed, calls: 6 },
    { rule: "no call for an unchanged row", before: aNight, tonight: rows(3), calls: 0 },
    { rule: "a call for a row that failed", before: aFailedNight, tonight: rows(3), calls: 3 },
    { rule: "a call for a row in doubt", before: aNightInDoubt, tonight: rows(3), calls: 3 },
    {
      rule: "no look for a changed row that has no id",
      before: aNightInDoubt,
      tonight: changed,
      calls: 3,
    },
    {
      rule: "no call for a superseded row",
      before: aNightAndClicks,
      tonight: [named(0, "Eve"), named(1, "Eve")],
      calls: 0,
    },
    {
      rule: "a look and a call for a changed row, and a call for the next one with its key",
      before: aNightOfTwoVersions,
      tonight: [named(0, "Ada L."), row(0)],
      calls: 3,
    },
  ])("estimates $rule, as a run then makes them", async ({ before, tonight, calls }) => {
    const world = createFixture({}, { maxRetries: 0 });
    const options = { key, checkpoint: new MemoryCheckpoint() };
    await before({ world, options });

    const { estimateMs } = await idleClient(world.mock).bulk.check(tonight, check, options);
    const sent = world.mock.requests.length;
    await world.audience.bulk(tonight, world.upsert, options);

    expect(estimateMs).toBe(timeOf(calls));
    expect(world.mock.requests.length - sent).toBe(calls);
  });

  it.each([
    { rule: "that was superseded", before: aNightAndClicks, counts: { changed: 3, superseded: 0 } },
    { rule: "that may have been carried out", before: aNightInDoubt, counts: { changed: 3, inDoubt: 0 } },
    {
      rule: "that may have been carried out and must not be repeated",
      before: aNightOfMailsInDoubt,
      counts: { changed: 0, inDoubt: 3 },
    },
    { rule: "that failed", before: aFailedNight, counts: { changed: 0, new: 3 } },
  ])("counts a changed row $rule as $counts", async ({ before, counts }) => {
    const world = createFixture({}, { maxRetries: 0 });
    const options = { key, checkpoint: new MemoryCheckpoint() };
    await before({ world, options });

    expect(await world.audience.bulk.check(changed, check, options)).toMatchObject(counts);
  });

  it.each([
    ["a look and a call for a row in doubt that has an id", { key }, 3 * 2 + 1],
    ["no look for a run without keys", {}, 3 + 1],
  ])("estimates %s", async (_, keyOption, calls) => {
    const world = createFixture({}, { maxRetries: 0 });
    const options = { ...keyOption, checkpoint: new MemoryCheckpoint() };
    // The response to the first call gives an id; the second one is in doubt.
    const twice = async (item: Row, request: BulkRequest) => {
      await world.upsert(item, request);
      world.mock.addFault({ kind: "reset-after", times: 1 });
      await world.upsert(item, request);
    };
    await expect(world.audience.bulk(broken(rows(3)), twice, { ...options, concurrency: 1 })).rejects.toThrow(
      "the file broke off",
    );

    const { estimateMs } = await idleClient(world.mock).bulk.check(rows(4), check, options);

    expect(estimateMs).toBe(timeOf(calls));
  });

  it("estimates no look for a row of v2, as its response gives no id", async () => {
    const { audience, mock } = createFixture();
    const options = { key: ({ firstName }: V2Contact) => firstName, checkpoint: new MemoryCheckpoint() };
    const upsert = (item: V2Contact, request: BulkRequest) => audience.v2.contacts.upsert(item, request);
    const contact = v2Contact("ada@example.com", "subscribed");
    await audience.bulk([contact], upsert, options);

    const plan = await idleClient(mock).bulk.check(
      [{ ...contact, lastName: "Lovelace" }],
      () => ({ success: true }),
      options,
    );

    expect([plan.changed, plan.estimateMs]).toEqual([1, timeOf(1)]);
  });

  it("estimates no look where `checkConsent` is false", async () => {
    const { audience, mock, upsert } = createFixture();
    const checkpoint = new MemoryCheckpoint();
    await audience.bulk(rows(12), upsert, { key, checkpoint });
    const tonight = rows(12).map((_, index) => named(index, "New"));

    const { estimateMs } = await idleClient(mock).bulk.check(tonight, check, {
      key,
      checkpoint,
      checkConsent: false,
    });

    expect(estimateMs).toBe(timeOf(12));
  });

  it("counts the last of two rows with one key as changed where the first would be sent, as a run sends both", async () => {
    const { audience, upsert } = createFixture();
    const options = { key, checkpoint: new MemoryCheckpoint(), checkConsent: false };
    await audience.bulk([row(0), row(0)], upsert, options);
    const tonight = [named(0, "Ada"), row(0)];

    const plan = await audience.bulk.check(tonight, check, options);

    expect(plan).toMatchObject({ changed: 2, unchanged: 0 });
    expect(await audience.bulk(tonight, upsert, options)).toMatchObject({ succeeded: 2, skipped: 0 });
  });

  it("refuses a checkpoint of another organization, and closes it", async () => {
    const { audience, mock, upsert } = createFixture({
      organizations: [
        { id: "mock-organization", apiKeys: ["mock-key"], appId: "app" },
        { id: "other", apiKeys: ["other-key"], appId: "other" },
      ],
    });
    const checkpoint = new MemoryCheckpoint();
    await audience.bulk(rows(1), upsert, { key, checkpoint });
    const other = new AudienceClient({ ...mock.clientOptions, apiKey: "other-key", appId: "other" });

    await expect(other.bulk.check(rows(1), check, { key, checkpoint })).rejects.toThrow(ConfigurationError);

    expect(await audience.bulk.check(rows(1), check, { key, checkpoint })).toMatchObject({ unchanged: 1 });
  });

  it("leaves nothing behind where there is no checkpoint file yet", async () => {
    const { audience, upsert } = createFixture();
    const folder = mkdtempSync(join(tmpdir(), "check-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const options = { key, checkpoint: fileCheckpoint(join(folder, "rows.ckpt")) };

    expect(await audience.bulk.check(rows(2), check, options)).toMatchObject({ new: 2 });

    expect(readdirSync(folder)).toEqual([]);
    expect(await audience.bulk(rows(2), upsert, options)).toMatchObject({ succeeded: 2 });
    expect(await audience.bulk.check(rows(2), check, options)).toMatchObject({ unchanged: 2 });
    expect(readdirSync(folder)).toEqual(["rows.ckpt"]);
  });

  it("refuses an option that it does not know, and a missing checkpoint", async () => {
    const { audience } = createFixture();
    const checked = (options: object) =>
      audience.bulk.check(
        rows(1),
        (contact: V1Contact) => v1ContactSchema.safeParse(contact),
        options as never,
      );

    await expect(checked({ key })).rejects.toThrow(/checkpoint/);
    await expect(checked({ checkpoint: new MemoryCheckpoint(), signal: 1 })).rejects.toThrow(/signal/);
  });
});
