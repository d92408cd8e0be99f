import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AudienceClient, type V2Contact, ValidationError, type Write, write } from "audience-sdk";
import { fileCheckpoint } from "audience-sdk/checkpoint";
import type { MockService } from "audience-sdk/mock";
import { describe, expect, it, onTestFinished } from "vitest";
import { createFixture, key, row, type Row, rows, upsert, v2Contact } from "./fixture.ts";
import { MemoryCheckpoint } from "./memory-checkpoint.ts";
import { snapshotOf } from "./people.ts";

type World = ReturnType<typeof createFixture>;

const signedUp = ({ email }: Row) => write.v1.events.send({ eventName: "signed_up", contact: { email } });
const optOut = (index: number): Row => ({ ...row(index), email_opt_in: "UNSUBSCRIBED" });
const named = (index: number, first_name: string) => ({ ...row(index), first_name });
/** A call a minute: so an estimate tells the number of calls. */
const rateLimiter = { windows: [{ limit: 1, intervalMs: 60_000 }], reserve: 0 };
/** A client of the same service that has not called yet. */
const idleClient = ({ clientOptions }: MockService) => new AudienceClient({ ...clientOptions, rateLimiter });
/** What it estimates, in minutes: of `n` calls the last leaves after `n - 1`. */
const minutesOf = ({ estimateMs }: { estimateMs: number }) => Math.floor(estimateMs / 60_000);

describe("bulk.check", () => {
  it("validates the writes of each row as their calls do, with all issues, estimates the calls of the valid rows, and sends nothing", async () => {
    const { mock } = createFixture();
    const audience = idleClient(mock);
    const items = [row(0), { firstName: "Ada" }, optOut(2), { ...row(3), phone: "1" }, row(4)] as Row[];
    async function* source() {
      yield* items;
    }
    const toWrites = (item: Row) => (item.email === row(4).email ? [] : [upsert(item), signedUp(item)]);

    const checked = await audience.bulk.check(source(), toWrites);

    expect(checked).toMatchObject({ total: 5, valid: 3, refusals: 1 });
    expect(minutesOf(checked)).toBe(3);
    expect(
      checked.invalid.map(({ index, issues }) => [index, issues.map(({ path }) => path.join("."))]),
    ).toEqual([
      [1, expect.arrayContaining(["0.firstName"])],
      [3, ["0.phone"]],
    ]);
    expect(Object.keys(checked)).toEqual(["total", "valid", "invalid", "refusals", "estimateMs"]);
    expect(mock.requests).toEqual([]);
  });

  it.each<[string, (item: Row) => Write | Write[], (string | number)[] | undefined]>([
    [
      "a random id",
      (item) => ({ ...upsert(item), contact: { ...item, custom_properties: { id: Math.random() } } }),
      ["contact", "custom_properties", "id"],
    ],
    [
      "one in the second write",
      (item) => [upsert(item), write.v1.customers.upsert({ ...item, first_name: String(Math.random()) })],
      [1, "contact", "first_name"],
    ],
    ["nothing", upsert, undefined],
    [
      "none of its options, which are not compared over nights",
      (item) => write.v1.customers.upsert(item, { headers: { "x-trace": String(Math.random()) } }),
      undefined,
    ],
  ])("calls the function twice, and tells the first member that differed: %s", async (_, toWrites, path) => {
    const { audience } = createFixture();

    const { unstable } = await audience.bulk.check(rows(2), toWrites);

    expect(unstable).toEqual(path && { index: 0, path });
  });

  it("calls it twice for the first hundred rows alone, and estimates no time without a limiter", async () => {
    const { audience } = createFixture();
    let calls = 0;

    const { estimateMs } = await audience.bulk.check(rows(103), (item) => (calls++, upsert(item)));

    expect([calls, estimateMs]).toEqual([203, 0]);
  });

  it.each([
    [
      "an Error",
      new Error("not today"),
      { code: "unreadable", message: "the row cannot be checked: not today" },
    ],
    [
      "a ValidationError",
      new ValidationError([{ path: ["email"], code: "banned", message: "not her" }]),
      { path: ["email"], code: "banned", message: "not her" },
    ],
  ])(
    "a row whose function throws %s is invalid, and its issues name the reason",
    async (_, thrown, issue) => {
      const { audience } = createFixture();

      const { invalid } = await audience.bulk.check([1], () => {
        // oxlint-disable-next-line typescript/only-throw-error -- as a caller's own code may.
        throw thrown;
      });

      expect(invalid).toMatchObject([{ index: 0, issues: [issue] }]);
    },
  );

  it.each<[string, unknown, object | undefined, RegExp]>([
    ["no function", undefined, undefined, /The function of bulk.check must be a function, not undefined/],
    ["a checkpoint that is none", upsert, { checkpoint: {} }, /checkpoint/],
  ])("refuses %s", async (_, toWrites, options, message) => {
    const { audience } = createFixture();

    const checked = audience.bulk.check(rows(1), toWrites as typeof upsert, options as object);

    await expect(checked).rejects.toMatchObject({
      code: "configuration",
      message: expect.stringMatching(message),
    });
  });
});

describe("bulk.check with a checkpoint", () => {
  it("tells which rows are new, changed and unchanged, leaves the checkpoint as it is, and sends nothing", async () => {
    const { audience, mock } = createFixture();
    const checkpoint = new MemoryCheckpoint();
    const options = { key, checkpoint };
    await audience.bulk(rows(4), upsert, options);
    const before = { requests: mock.requests.length, puts: [...checkpoint.puts] };

    const tonight = await audience.bulk.check(
      [
        row(0),
        { ...row(1), email: "" },
        named(2, "Bob"),
        optOut(3),
        row(4),
        { ...row(5), email: "no address" },
      ],
      upsert,
      options,
    );

    expect(tonight).toMatchObject({ total: 6, valid: 4, new: 1, changed: 2, unchanged: 1, inDoubt: 0 });
    expect(tonight).toMatchObject({ refusals: 1, unjudged: 1, looks: 1 });
    expect(tonight.invalid).toMatchObject([{ index: 1, issues: [{ code: "no_key" }] }, { index: 5 }]);
    expect({ requests: mock.requests.length, puts: checkpoint.puts }).toEqual(before);
    expect(checkpoint.log.at(-1)).toBe("close");
  });

  /** An earlier night of three rows, and what it left. */
  const nights = {
    whole: () => undefined,
    failed: (mock: MockService) => mock.addFault({ kind: "redirect", times: 3 }),
    "in doubt": (mock: MockService) => mock.addFault({ kind: "reset-after", times: 3 }),
  };
  const mailed = (item: Row) => write.v1.customers.upsert({ ...item, double_opt_in: true });
  const changed = [named(0, "A"), named(1, "B"), named(2, "C")];

  const twice = (item: Row) => [signedUp(item), upsert(item)];
  const refused = [0, 1, 2].map(optOut);
  it.each<[string, keyof typeof nights, (item: Row) => Write | Write[], Row[], object, calls: number]>([
    ["new rows", "whole", upsert, rows(14).slice(3), { new: 11, unjudged: 11, looks: 0 }, 11],
    ["new rows of two writes", "whole", twice, rows(5).slice(3), { new: 2, unjudged: 2, looks: 0 }, 4],
    ["changed rows", "whole", upsert, changed, { changed: 3, unjudged: 0, looks: 3 }, 6],
    ["changed rows of two writes", "whole", twice, changed, { changed: 3, looks: 3 }, 9],
    ["unchanged rows", "whole", upsert, rows(3), { unchanged: 3, looks: 0 }, 0],
    ["nothing but refusals", "whole", upsert, refused, { changed: 3, refusals: 3, looks: 0 }, 3],
    ["rows that failed", "failed", upsert, rows(3), { new: 3, looks: 0 }, 3],
    ["changed rows that failed", "failed", upsert, changed, { new: 3, changed: 0, looks: 0 }, 3],
    ["rows in doubt", "in doubt", upsert, rows(3), { inDoubt: 3, unjudged: 3, looks: 0 }, 3],
    ["changed rows in doubt", "in doubt", upsert, changed, { changed: 3, inDoubt: 0, looks: 0 }, 3],
    ["what must not be repeated", "in doubt", mailed, changed, { inDoubt: 3, unjudged: 0, looks: 0 }, 0],
  ])(
    "counts %s, and the calls that a run then makes",
    async (_, before, toWrites, tonight, counts, calls) => {
      const { audience, mock } = createFixture({}, { maxRetries: 0 });
      const options = { key, checkpoint: new MemoryCheckpoint() };
      nights[before](mock);
      await audience.bulk(rows(3), toWrites, options);

      const plan = await idleClient(mock).bulk.check(tonight, toWrites, options);
      const sent = mock.requests.length;
      await audience.bulk(tonight, toWrites, options);

      expect(plan).toMatchObject(counts);
      expect(minutesOf(plan)).toBe(Math.max(0, calls - 1));
      expect(mock.requests.length - sent).toBe(calls);
    },
  );

  it("counts rows without a key, which are never looked up by an earlier night's id", async () => {
    const { audience, mock } = createFixture();
    const checkpoint = new MemoryCheckpoint();
    const stopped = audience.bulk(rows(3), upsert, { checkpoint, concurrency: 1 });
    for await (const { index } of stopped) if (index === 1) break;

    const plan = await idleClient(mock).bulk.check(rows(4), upsert, { checkpoint });

    expect(plan).toMatchObject({ new: 2, unchanged: 2, looks: 0 });
    expect(minutesOf(plan)).toBe(1);
  });

  it("counts no look for a row of v2, as its response gives no id, and none with `checkConsent: false`", async () => {
    const { audience, mock } = createFixture();
    const byName = { key: ({ firstName }: V2Contact) => firstName, checkpoint: new MemoryCheckpoint() };
    const v2 = (item: V2Contact) => write.v2.contacts.upsert(item);
    const contact = v2Contact("ada@example.com", "subscribed");
    await audience.bulk([contact], v2, byName);
    const options = { key, checkpoint: new MemoryCheckpoint() };
    await audience.bulk(rows(3), upsert, options);
    const { check } = idleClient(mock).bulk;

    expect(await check([{ ...contact, lastName: "Lovelace" }], v2, byName)).toMatchObject({
      changed: 1,
      unjudged: 1,
      looks: 0,
    });
    expect(await check(changed, upsert, { ...options, checkConsent: false })).toMatchObject({
      changed: 3,
      looks: 0,
    });
  });

  it("counts the looks by a snapshot, and as unjudged who is not in it", async () => {
    const { audience } = createFixture();
    await audience.bulk(rows(2), upsert);
    const snapshot = await snapshotOf(audience);

    const plan = await audience.bulk.check([...rows(3), { ...row(0), first_name: "Ada" }], upsert, {
      key,
      snapshot,
      checkpoint: new MemoryCheckpoint(),
    });

    // The second row of the first person is looked up by the same id.
    expect(plan).toMatchObject({ new: 3, changed: 1, looks: 3, unjudged: 1 });
  });

  // The person of the second row is known by the response of the first.
  it("counts both of two rows with one key as sent, each night, as a run sends them", async () => {
    const { audience, mock } = createFixture();
    const options = { key, checkpoint: new MemoryCheckpoint() };
    const tonight = [named(0, "Ada"), row(0)];

    for (const counts of [
      { new: 1, changed: 1, looks: 1 },
      { new: 0, changed: 2, looks: 2 },
    ]) {
      const before = mock.requests.length;
      expect(await audience.bulk.check(tonight, upsert, options)).toMatchObject({ ...counts, unchanged: 0 });
      expect(await audience.bulk(tonight, upsert, options)).toMatchObject({ succeeded: 2, skipped: 0 });
      const tonightsLooks = mock.requests.slice(before).filter(({ method }) => method === "GET");
      expect(tonightsLooks).toHaveLength(counts.looks);
    }
  });

  it("opens a file without its lock while a run has it open, and leaves nothing behind where there is none", async () => {
    const { audience } = createFixture();
    const folder = mkdtempSync(join(tmpdir(), "check-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const options = { key, checkpoint: fileCheckpoint(join(folder, "rows.ckpt")) };
    const check = async ({ bulk }: World["audience"]) => await bulk.check(rows(2), upsert, options);

    expect(await check(audience)).toMatchObject({ new: 2 });
    expect(readdirSync(folder)).toEqual([]);

    const during: unknown[] = [];
    for await (const _ of audience.bulk(rows(2), upsert, { ...options, concurrency: 1 }))
      during.push(await check(audience));

    expect(during).toMatchObject([{ unchanged: 1, new: 1 }, { unchanged: 2 }]);
    expect(readdirSync(folder)).toEqual(["rows.ckpt"]);
  });
});
