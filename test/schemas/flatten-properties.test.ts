import { ConfigurationError, ValidationError } from "audience-sdk";
import { flattenProperties } from "audience-sdk/schemas";
import { describe, expect, it } from "vitest";

function refusal(value: object, options?: { separator?: string }): string[] {
  try {
    flattenProperties(value, options);
    return [];
  } catch (error) {
    if (error instanceof ValidationError) return error.issues.map(({ path }) => path.join("."));
    throw error;
  }
}

describe("flattenProperties", () => {
  it.each<[string, object, object]>([
    ["leaves flat values as they are", { a: "x", b: 5, c: true, d: "" }, { a: "x", b: 5, c: true, d: "" }],
    [
      "names nested values by their path",
      { pet: { name: "Rex", owner: { name: "Ada" } } },
      { pet_name: "Rex", pet_owner_name: "Ada" },
    ],
    [
      "numbers the items of arrays",
      { tags: ["a", ["b", { c: 1 }]] },
      { tags_0: "a", tags_1_0: "b", tags_1_1_c: 1 },
    ],
    [
      "writes a Date as an ISO string",
      { at: new Date(0), in: [new Date(1)] },
      { at: "1970-01-01T00:00:00.000Z", in_0: "1970-01-01T00:00:00.001Z" },
    ],
    ["leaves undefined out", { a: undefined, b: { c: undefined } }, {}],
    ["omits empty objects and arrays", { a: {}, b: [], c: { d: [{}] } }, {}],
    ["keeps an empty name", { "": 1, a: { "": 2 } }, { "": 1, a_: 2 }],
  ])("%s", (_, value, flat) => {
    const before = structuredClone(value);
    expect(flattenProperties(value)).toEqual(flat);
    expect(value).toEqual(before);
  });

  it("accepts another separator, also an empty one", () => {
    expect(flattenProperties({ a: { b: 1 } }, { separator: "." })).toEqual({ "a.b": 1 });
    expect(flattenProperties({ a: { b: 1 } }, { separator: "" })).toEqual({ ab: 1 });
    // @ts-expect-error: JavaScript callers are not held by the type.
    expect(() => flattenProperties({ a: 1 }, { separator: 5 })).toThrow(ConfigurationError);
  });

  it("refuses two values with the same name, and names the second", () => {
    expect(refusal({ a_b: 1, a: { b: 2 } })).toEqual(["a.b"]);
    expect(refusal({ a: { b: 2 }, a_b: 1 })).toEqual(["a_b"]);
    expect(refusal({ a: { b_c: 1 }, a_b: { c: 2 } })).toEqual(["a_b.c"]);
    expect(refusal({ a_b: 1, a: { b: 2 } }, { separator: "." })).toEqual([]);
    expect(() => flattenProperties({ a_b: 1, a: { b: 2 } })).toThrow(
      'a.b: would be named "a_b", as another value is: rename one, or choose another separator',
    );
  });

  const cycle: unknown[] = [];
  cycle.push(cycle);
  it.each([null, NaN, new Map(), [undefined], cycle])("refuses %s, and names its path", (value) => {
    expect(refusal({ ok: 1, a: { b: value } })[0]).toMatch(/^a\.b/);
  });

  it("reports all problems of a kind at once: first values that JSON cannot represent, then equal names", () => {
    expect(refusal({ a: null, b: NaN, b_c: 1, d_e: 1, d: { e: 2 } })).toEqual(["a", "b"]);
    expect(refusal({ b_c: 1, b: { c: 2 }, d_e: 1, d: { e: 2 } })).toEqual(["b.c", "d.e"]);
  });

  it("never pollutes a prototype, neither by a key __proto__ nor by a key that the separator creates", () => {
    expect(refusal(JSON.parse('{"__proto__":{"polluted":1}}') as object)).toEqual(["__proto__"]);
    expect(refusal({ "": { "": { proto: { "": { "": 1 } } } } })).toEqual(["..proto.."]);
    expect(Reflect.get({}, "polluted")).toBeUndefined();
  });
});
