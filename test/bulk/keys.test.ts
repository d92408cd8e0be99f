import { createHash } from "node:crypto";
import { AudienceClient, ConfigurationError } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { describe, expect, it } from "vitest";
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

    const message = `the key function must return a string, not ${kind}`;
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
