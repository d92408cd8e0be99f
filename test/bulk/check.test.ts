import { ConfigurationError, RateLimiter, ValidationError } from "audience-sdk";
import { v1ContactSchema } from "audience-sdk/schemas";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { row, rows, createFixture } from "./fixture.ts";

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
