import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AudienceClient, ConfigurationError } from "audience-sdk";
import { fileCheckpoint } from "audience-sdk/checkpoint";
import { createMockService } from "audience-sdk/mock";
import { describe, expect, it, onTestFinished } from "vitest";
import { collectRun, createFixture, key, row, type Row, rows } from "./fixture.ts";
import { MemoryCheckpoint } from "./memory-checkpoint.ts";

describe("A row's key", () => {
  const names = async (emails: string[], options: object) => {
    const { audience } = createFixture();
    const items = emails.map((email) => ({ email }));
    const { results } = await collectRun(
      audience.bulk(items, async () => null, { concurrency: 1, ...options }),
    );
    return results.map((result) => result.key);
  };
  const byEmail = ({ email }: { email: string }) => email;

  it("gets a number where it repeats", async () => {
    const options = { key: byEmail, checkpoint: new MemoryCheckpoint() };

    expect(await names(["a", "b", "a", "a", "b"], options)).toEqual(["a", "b", "a#2", "a#3", "b#2"]);
  });

  it("never equals the numbered key of another row", async () => {
    const of = (emails: string[]) => names(emails, { key: byEmail, checkpoint: new MemoryCheckpoint() });

    expect(await of(["a", "a", "a#2"])).toEqual(["a", "a#2", "a#2#2"]);
    expect(await of(["a#2", "a", "a"])).toEqual(["a#2", "a", "a#3"]);
  });

  it("is unchanged where there is no checkpoint", async () => {
    expect(await names(["a", "a"], { key: byEmail })).toEqual(["a", "a"]);
  });

  it("is a hash of the row's content where no key function is given", async () => {
    const once = await names(["a", "b", "a"], { checkpoint: new MemoryCheckpoint() });
    const other = await names(["x", "b", "a"], { checkpoint: new MemoryCheckpoint() });

    // 96 bits of it.
    const hash = createHash("sha256").update('{"email":"a"}').digest().subarray(0, 12);
    expect(once[0]).toBe(hash.toString("base64url"));
    expect(once[2]).toBe(`${once[0]}#2`);
    expect([other[1], other[2]]).toEqual([once[1], once[0]]);
  });

  it("whose function fails makes the row invalid, and does not end the run", async () => {
    const { audience, mock, upsert } = createFixture();
    const items = [row(0), { ...row(1), email: "" }, row(2)];

    const { results, error } = await collectRun(audience.bulk(items, upsert, { key, concurrency: 1 }));

    expect(results.map(({ status }) => status)).toEqual(["succeeded", "invalid", "succeeded"]);
    expect(results[1]).toMatchObject({ key: "1", error: { code: "validation" } });
    expect(error).toBeUndefined();
    expect(mock.requests).toHaveLength(2);
  });

  it.each([
    ["", "an empty string"],
    [null, "null"],
    [7, "a number"],
    [undefined, "undefined"],
    // A string cut in the middle of a character: two such keys could be confused.
    ["\ud800", "half a character"],
    ["ada \udc00", "half a character"],
  ])("is a non-empty string, and not %j", async (given, kind) => {
    const { audience } = createFixture();

    const { results } = await collectRun(audience.bulk([1], async () => null, { key: () => given as never }));

    const message = `the key function must return a string that names the row, not ${kind}: such as String(row.id)`;
    expect(results).toMatchObject([{ error: { issues: [{ path: [], code: "no_key", message }] } }]);
  });

  it("whose function fails is passed to stopWhen", async () => {
    const { audience, upsert } = createFixture();
    const seen: unknown[] = [];
    const stopWhen = (error: unknown) => seen.push(error) === 0;

    const { results } = await collectRun(audience.bulk(rows(1), upsert, { key: () => "", stopWhen }));

    expect(seen).toEqual([results[0]?.error]);
  });

  it.each([
    ["another error of this package", new ConfigurationError("not configured")],
    ["a foreign error that resembles one", Object.assign(new Error("no"), { code: "validation" })],
  ])("whose function throws %s makes the row failed", async (_, thrown) => {
    const { audience, upsert } = createFixture();
    const keyOf = () => {
      throw thrown;
    };

    const { results } = await collectRun(
      audience.bulk(rows(1), upsert, { key: keyOf, stopWhen: () => false }),
    );

    expect(results).toMatchObject([{ status: "failed", error: thrown }]);
  });

  it("whose function throws makes the row failed with what it threw", async () => {
    const { audience, upsert } = createFixture();

    const { results, error } = await collectRun(
      audience.bulk([null as unknown as Row, row(1)], upsert, { key, concurrency: 1 }),
    );

    expect(results.map(({ status }) => status)).toEqual(["failed", "succeeded"]);
    expect(results[0]?.error).toBeInstanceOf(TypeError);
    expect(error).toBeUndefined();
  });

  it.each([
    ["a BigInt", { n: 1n }, "Do not know how to serialize a BigInt"],
    [
      "a value whose toJSON throws a string",
      {
        toJSON: () => {
          // oxlint-disable-next-line typescript/only-throw-error -- as a caller's own code may.
          throw "not today";
        },
      },
      "not today",
    ],
    ["a Map", new Map([["email", "ada@example.com"]]), "it holds a Map"],
    ["a Set within", { emails: new Set(["ada@example.com"]) }, "it holds a Set"],
    ["a URLSearchParams", new URLSearchParams("email=ada@example.com"), "it holds a URLSearchParams"],
    [
      "a class without public fields",
      new (class Row {
        readonly #email = "ada@example.com";
        get email() {
          return this.#email;
        }
      })(),
      "it holds an instance of a class without properties",
    ],
  ])("needs a fingerprint where JSON cannot represent the row: %s", async (_, item, reason) => {
    const { audience } = createFixture();

    const { results } = await collectRun(
      audience.bulk([item], async () => null, { checkpoint: new MemoryCheckpoint() }),
    );

    const message = `the row cannot be written as JSON (${reason}): give a \`fingerprint\``;
    expect(results).toMatchObject([{ status: "invalid", error: { issues: [{ message }] } }]);
  });

  it.each([undefined, () => 1])("cannot be a hash of %s, which JSON omits", async (item) => {
    const { audience } = createFixture();
    const options = { checkpoint: new MemoryCheckpoint() };

    const { results } = await collectRun(audience.bulk([item], async () => null, options));

    const message = `the row cannot be written as JSON (it is ${typeof item}): give a \`fingerprint\``;
    expect(results).toMatchObject([{ status: "invalid", error: { issues: [{ message }] } }]);
  });
});

describe("Without a key a checkpoint belongs to one run", () => {
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
  ])("after a complete run, the next run sends every row: %s", async (_, create) => {
    const { audience, upsert, mock } = createFixture();
    const checkpoint = await create();
    const [monday, tuesday] = (["SUBSCRIBED", "UNSUBSCRIBED"] as const).map((email_opt_in) =>
      rows(5).map((each): Row => ({ ...each, email_opt_in })),
    );

    for (const day of [monday!, tuesday!, monday!])
      expect(await audience.bulk(day, upsert, { checkpoint })).toMatchObject({ succeeded: 5 });

    const { contacts } = mock.organization("mock-organization");
    expect(contacts.map(({ email_opt_in }) => email_opt_in)).toEqual(rows(5).map(() => "SUBSCRIBED"));
  });

  it("after an abort, the next run resumes", async () => {
    const { audience, mock, upsert, emails } = createFixture();
    const checkpoint = new MemoryCheckpoint();
    const stop = new AbortController();
    const first = audience.bulk(rows(5), upsert, { checkpoint, concurrency: 1, signal: stop.signal });
    for await (const { index } of first) if (index === 1) break;

    const second = await audience.bulk(rows(5), upsert, { checkpoint });

    expect(second.skipped).toBeGreaterThanOrEqual(2);
    expect(second.skipped + second.succeeded).toBe(5);
    expect(new Set(emails()).size).toBe(5);
    expect(mock.requests).toHaveLength(5);
    expect(await audience.bulk(rows(5), upsert, { checkpoint })).toMatchObject({ succeeded: 5 });
  });

  it("a run with a failed row is complete", async () => {
    const { audience, upsert } = createFixture(
      { faults: [{ kind: "500-before", times: 1 }] },
      { maxRetries: 0 },
    );
    const checkpoint = new MemoryCheckpoint();

    const summary = await audience.bulk(rows(2), upsert, { checkpoint });

    expect(summary).toMatchObject({ succeeded: 1, unknown: 1 });
    expect(await audience.bulk(rows(2), upsert, { checkpoint })).toMatchObject({ succeeded: 2 });
  });

  it.each([
    [
      "with a `key`",
      "without one",
      { key },
      {},
      "The checkpoint was written with a `key`. Run it with a `key` again",
    ],
    [
      "without a `key`",
      "with one",
      {},
      { key },
      "The checkpoint was written without a `key`. Run it without a `key` again",
    ],
  ])("a checkpoint that was written %s is refused %s", async (_, __, before, after, message) => {
    const { audience, mock, upsert } = createFixture();
    const checkpoint = new MemoryCheckpoint();
    for await (const first of audience.bulk(rows(3), upsert, { checkpoint, concurrency: 1, ...before }))
      if (first.status === "succeeded") break;
    const sent = mock.requests.length;
    const kept = checkpoint.lines;

    const { error } = await collectRun(audience.bulk(rows(3), upsert, { checkpoint, ...after }));

    expect(error).toEqual(new ConfigurationError(`${message}, or name another checkpoint.`));
    expect(mock.requests).toHaveLength(sent);
    expect([checkpoint.lines, checkpoint.log.at(-1)]).toEqual([kept, "close"]);
  });
});

it("A list that the key function of bulk returns by mistake is not started: the row is invalid", async () => {
  const mock = createMockService();
  const audience = new AudienceClient(mock.clientOptions);

  const summary = await audience.bulk(
    [{ email: "ada@example.com" }],
    (person, request) => audience.v1.customers.upsert(person, request),
    { key: () => audience.v1.customers.list() as never },
  );

  expect(summary).toMatchObject({ invalid: 1 });
  expect(mock.requests).toEqual([]);
});
