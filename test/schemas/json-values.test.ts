import { runInNewContext } from "node:vm";
import { AudienceClient } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { v1ContactSchema, v1EventSchema, v1ListContactSchema, v2ContactSchema } from "audience-sdk/schemas";
import { describe, expect, it, onTestFinished } from "vitest";
import type * as z from "zod";
import { consent, emailIdentifier, v2Contact } from "../document/service.ts";
import { issuesOf, messageAt, verdict } from "./issues.ts";

const ada = { email: "ada@example.com" };
const order = { eventName: "order placed", contact: ada };
const withData = (eventData: unknown) => ({ ...order, eventData });
const v2Ada = v2Contact({ identifiers: [emailIdentifier("ada@example.com")] });

const mock = createMockService();
const { v1 } = new AudienceClient({ ...mock.clientOptions, rateLimiter: false });

/** The event data that arrives. */
async function arriving(eventData: Record<string, unknown>): Promise<unknown> {
  await v1.events.send({ ...order, eventData });
  return (mock.requests.at(-1)!.body as { eventData: unknown }).eventData;
}

const throwing = (): never => {
  throw new Error("secret-of-the-getter");
};
const withGetter = (input: object, key: string) =>
  Object.defineProperty({ ...input }, key, { get: throwing, enumerable: true });

class Order {
  id = 5;
  get total() {
    return 1;
  }
}
class Tagged {
  id = 5;
  get [Symbol.toStringTag]() {
    return "Order";
  }
}
class Secretive {
  #id = 5;
  get id() {
    return this.#id;
  }
}

/** What JSON would lose, or write as null. */
const lost: [string, unknown][] = [
  ["null", null],
  ["NaN", NaN],
  ["Infinity", -Infinity],
  ["a BigInt", 5n],
  ["a function", () => 1],
  ["a symbol", Symbol("s")],
  ["a Map", new Map([["email", "a@b"]])],
  ["a Set", new Set([1])],
  ["a RegExp", /x/],
  ["an Error", new Error("x")],
  ["a typed array", new Uint8Array([1])],
  ["an ArrayBuffer", new ArrayBuffer(1)],
  ["a Promise", Promise.resolve(1)],
  ["an invalid Date", new Date(NaN)],
  ["a boxed string", Object("x")],
  ["an instance without public fields", new Secretive()],
  ["a value whose toJSON returns null", { toJSON: () => null }],
  ["a value whose toJSON returns undefined", { toJSON: () => undefined }],
  ["a value whose toJSON returns a Map", { toJSON: () => new Map([["a", 1]]) }],
  ["a value whose toJSON throws", { toJSON: throwing }],
];

describe("What JSON would lose is refused", () => {
  it.each(lost)("%s, at its path", async (_, value) => {
    expect(await verdict(v1EventSchema, withData({ a: { b: [value] } }))).toEqual(["eventData.a.b.0 custom"]);
  });

  it.each([...lost, ["undefined", undefined], ["a text", "x"], ["a Date", new Date(0)], ["an array", [ada]]])(
    "%s, as the whole input",
    async (_, input) => {
      for (const schema of [v1ContactSchema, v1ListContactSchema, v1EventSchema, v2ContactSchema])
        expect(await issuesOf(schema, input)).not.toEqual([]);
    },
  );

  it("an object in itself; but one object at two paths is no cycle", async () => {
    const address = { city: "Berlin" };
    const cycle: Record<string, unknown> = { name: "x" };
    cycle["self"] = cycle;
    expect(await verdict(v1EventSchema, withData({ from: address, to: address }))).toEqual([]);
    expect(await verdict(v1EventSchema, withData(cycle))).toEqual(["eventData.self custom"]);
  });

  it.each<[string, z.ZodType, unknown, string]>([
    ["a key", v1ContactSchema, withGetter(ada, "phone"), "phone"],
    ["event data", v1EventSchema, withData({ a: [withGetter({}, "value")] }), "eventData.a.0.value"],
    ["a key that is passed on", v2ContactSchema, withGetter(v2Ada, "extra"), "extra"],
  ])("a getter that throws, by its key alone: %s", async (_, schema, input, at) => {
    expect(await verdict(schema, input)).toEqual([`${at} custom`]);
    expect(await messageAt(schema, input, at)).toBe("cannot be read: a getter or a toJSON throws");
  });

  it("with all issues, however many", async () => {
    const data = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`key ${at}`, null]));
    expect(await verdict(v1EventSchema, withData(data))).toHaveLength(20_000);
  });
});

describe("What JSON can carry is sent", () => {
  it.each<[string, Record<string, unknown>, unknown?]>([
    ["an object of any depth", { total: 12.5, items: [{ n: 1 }, ["x", [true, ""]]], none: [], "": "x" }],
    ["an object without keys", {}],
    [
      "undefined, as a key that is left out",
      { a: undefined, b: 1, c: { toJSON: () => undefined } },
      { b: 1 },
    ],
    ["a Date, as ISO 8601", { at: new Date(0) }, { at: "1970-01-01T00:00:00.000Z" }],
    ["a URL", { url: new URL("https://example.com/") }, { url: "https://example.com/" }],
    [
      "an instance, by its public fields",
      { a: new Order(), b: new Tagged() },
      { a: { id: 5 }, b: { id: 5 } },
    ],
    ["the result of toJSON", { own: { toJSON: (key: string) => [key] } }, { own: ["own"] }],
    ["no key that is a symbol", { [Symbol("hidden")]: 1, a: 1 }, { a: 1 }],
    [
      "a plain object of another realm",
      runInNewContext("({ total: 12.5, none: {} })"),
      { total: 12.5, none: {} },
    ],
  ])("%s", async (_, data, arrived = data) => {
    expect(await arriving(data)).toEqual(arrived);
  });

  it("a BigInt, as its toJSON, where the program has given it one", async () => {
    onTestFinished(() => void Reflect.deleteProperty(BigInt.prototype, "toJSON"));
    for (const given of [5, "5"]) {
      Object.assign(BigInt.prototype, { toJSON: () => given });
      expect(await verdict(v1EventSchema, withData({ total: 5n }))).toEqual([]);
    }
  });

  it("as it is at the time of the call", async () => {
    const data = { items: [1] };
    const arrived = arriving(data);
    data.items.push(2);
    expect(await arrived).toEqual({ items: [1] });
  });

  it("and the input is never changed", async () => {
    const freeze = <Value>(value: Value): Value => {
      if (typeof value === "object" && value !== null) Object.values(Object.freeze(value)).forEach(freeze);
      return value;
    };
    const event = freeze({ ...order, contact: { ...ada, tags: [1] }, eventData: { a: [{ b: 1 }] } });
    const contact = freeze({ ...structuredClone(v2Ada), extra: { a: [1] } });
    expect(await verdict(v1EventSchema, event)).toEqual([]);
    expect(await verdict(v2ContactSchema, contact)).toEqual([]);
    expect(await verdict(v1ContactSchema, freeze({ first_name: 5, Email: "x" }))).toHaveLength(3);
  });
});

const deep = (levels: number) => {
  let value: unknown = "x";
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? { a: value } : [value];
  return value;
};
const huge = "x".repeat(1_000_000);

describe("Depth and size have no bound but that of the stack", () => {
  it("1,500 levels and 210,000 values are accepted", async () => {
    const items = Array.from({ length: 210_000 }, () => 1);
    expect(await verdict(v1EventSchema, withData({ a: deep(1_500), items }))).toEqual([]);
  });

  it.each<[string, z.ZodType, object]>([
    ["event data", v1EventSchema, withData({ a: deep(100_000) })],
    ["an unknown field of v2", v2ContactSchema, { ...v2Ada, extra: deep(100_000) }],
    ["an unknown field of v1", v1ContactSchema, { ...ada, extra: deep(100_000) }],
  ])("100,000 levels of %s, at which the stack overflows, are one issue", async (_, schema, input) => {
    expect(await messageAt(schema, input, "")).toBe("is nested too deeply");
  });

  // In quadratic time they would take hours, and not end.
  it.each<[string, z.ZodType, object, number]>([
    ["an e-mail address", v1ContactSchema, { email: huge }, 1],
    ["an e-mail address of quotes", v1ContactSchema, { email: '"'.repeat(1_000_000) }, 1],
    ["a right e-mail address but for its end", v1ContactSchema, { email: `"${huge}@${huge} ` }, 1],
    ["a day and two choices", v1ContactSchema, { ...ada, dob: huge, gender: huge, email_opt_in: huge }, 3],
    ["a country code and a date-time", v2ContactSchema, { ...v2Ada, countryCode: huge, createdAt: huge }, 2],
    [
      "the fraction of a second",
      v2ContactSchema,
      { ...v2Ada, createdAt: `2026-01-31T09:30:00.${"1".repeat(1e6)}Z` },
      1,
    ],
    [
      "an IP address",
      v2ContactSchema,
      v2Contact({
        identifiers: [{ ...emailIdentifier("a@b"), consent: { ...consent, ip: ":".repeat(1_000_000) } }],
      }),
      1,
    ],
  ])("a megabyte is checked in linear time: %s", async (_, schema, input, count) => {
    expect(await issuesOf(schema, input)).toHaveLength(count);
  });
});

describe("__proto__ as an own key is refused, and does not pollute a prototype", () => {
  const own = (value: object) => Object.assign(JSON.parse('{"__proto__":{"polluted":1}}') as object, value);

  it.each<[string, z.ZodType, unknown, string]>([
    ["of a v1 contact", v1ContactSchema, own(ada), "__proto__ custom"],
    ["of event data", v1EventSchema, withData({ a: own({}) }), "eventData.a.__proto__ custom"],
    ["of a v2 contact", v2ContactSchema, own(v2Ada), "__proto__ custom"],
  ])("%s", async (_, schema, input, expected) => {
    expect(await verdict(schema, input)).toEqual([expected]);
    expect(Reflect.get({}, "polluted")).toBeUndefined();
  });
});
