import { AudienceClient, isAudienceError } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import {
  v1ContactSchema,
  v1EventSchema,
  v1ListContactSchema,
  v2ContactSchema,
  v2IdentifierSchema,
} from "audience-sdk/schemas";
import { describe, expect, it, onTestFinished } from "vitest";
import { issuesOf, messageAt, verdict } from "./issues.ts";

const schemas = { v1ContactSchema, v1ListContactSchema, v1EventSchema, v2ContactSchema, v2IdentifierSchema };
const ada = { email: "ada@example.com" };
const identifier = {
  type: "email",
  id: "ada@example.com",
  channels: { email: { status: "subscribed" } },
  consent: { createdAt: "2026-01-31T09:30:00Z", ip: "192.0.2.1", source: "form" },
};
const v2Ada = { firstName: "Ada", listIds: [], identifiers: [identifier] };
const order = { eventName: "order", contact: ada };

const deep = (levels: number) => {
  let value: unknown = "x";
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? { a: value } : [value];
  return value;
};
const huge = "x".repeat(1_000_000);

describe.each(Object.entries(schemas))("%s refuses without a crash", (_, schema) => {
  it.each<[string, unknown]>([
    ["undefined", undefined],
    ["null", null],
    ["a text", "x"],
    ["a function", () => 1],
    ["a symbol", Symbol("s")],
    ["a BigInt", 5n],
    ["a Map", new Map([["email", "a@b"]])],
    ["a Date", new Date(0)],
    ["an array", [ada]],
  ])("%s", async (_name, input) => {
    expect((await issuesOf(schema, input)).length).toBeGreaterThan(0);
  });
});

describe("A getter that throws is an issue at its key, which does not show the error:", () => {
  const failing = {
    get value(): never {
      throw new Error("secret-of-the-getter");
    },
  };
  const { get } = Object.getOwnPropertyDescriptor(failing, "value")!;
  const withGetter = (input: object, key: string) =>
    Object.defineProperty({ ...input }, key, { get: get!, enumerable: true });

  it.each<[string, keyof typeof schemas, unknown, string]>([
    ["a key", "v1ContactSchema", withGetter(ada, "phone"), "phone"],
    ["event data", "v1EventSchema", { ...order, eventData: { a: [failing] } }, "eventData.a.0.value"],
    ["a key that is passed on", "v2ContactSchema", withGetter(v2Ada, "extra"), "extra"],
  ])("%s", async (_, name, input, at) => {
    expect(await verdict(schemas[name], input)).toEqual([`${at} custom`]);
    expect(await messageAt(schemas[name], input, at)).toBe("cannot be read: a getter or a toJSON throws");
  });
});

describe("Depth and size have no bound but that of the stack", () => {
  it("1,500 levels and 210,000 values are accepted", async () => {
    const items = Array.from({ length: 210_000 }, () => 1);
    expect(await verdict(v1EventSchema, { ...order, eventData: { a: deep(1_500), items } })).toEqual([]);
  });

  it("100,000 levels, at which the stack overflows, are one issue", async () => {
    for (const [schema, input] of [
      [v1EventSchema, { ...order, eventData: { a: deep(100_000) } }],
      [v2ContactSchema, { ...v2Ada, extra: deep(100_000) }],
      [v1ContactSchema, { ...ada, extra: deep(100_000) }],
      [v1ContactSchema, { ...ada, custom_properties: { a: deep(100_000) } }],
    ] as const) {
      expect(await messageAt(schema, input, "")).toBe("is nested too deeply");
    }
  });

  it("at any depth the client sends the input, or refuses it", async () => {
    const mock = createMockService();
    const { v1 } = new AudienceClient({ ...mock.clientOptions, rateLimiter: false });
    for (let levels = 1_000; levels <= 12_000; levels += 1_000) {
      const call = v1.events.send({ ...order, eventData: { a: deep(levels) } });
      // The mock has a limit of its own: what it refuses was sent.
      expect(await call.catch((error: unknown) => error)).toSatisfy(
        (end: unknown) => !isAudienceError(end) || ["validation", "bad_request"].includes(end.code),
      );
    }
  });

  it("strings of a megabyte are checked in linear time", async () => {
    const at = "@".repeat(1_000_000);
    expect(await verdict(v1ContactSchema, { ...ada, first_name: huge })).toEqual(["first_name too_big"]);
    expect(await verdict(v1ContactSchema, { email: huge })).toEqual(["email invalid_format"]);
    expect(await verdict(v1ContactSchema, { email: at })).toEqual(["email invalid_format"]);
    expect(await verdict(v1ContactSchema, { email: '"'.repeat(1_000_000) })).toEqual([
      "email invalid_format",
    ]);
    expect(await verdict(v1ContactSchema, { email: `"${huge}@${huge}` })).toEqual([]);
    expect(await verdict(v1ContactSchema, { email: `"${huge}@${huge} ` })).toEqual(["email invalid_format"]);
    expect(
      await verdict(v1ContactSchema, { ...ada, dob: huge, gender: huge, email_opt_in: huge }),
    ).toHaveLength(3);
    expect(await verdict(v1ContactSchema, { ...ada, [huge]: 1 })).toEqual([`${huge} unrecognized_keys`]);
    expect(await verdict(v2ContactSchema, { ...v2Ada, countryCode: huge, createdAt: huge })).toHaveLength(2);
    expect(
      await verdict(v1EventSchema, { ...order, eventName: " ".repeat(1_000_000), eventData: { huge } }),
    ).toEqual([]);
    expect(
      await verdict(v2ContactSchema, {
        ...v2Ada,
        identifiers: [{ ...identifier, consent: { ...identifier.consent, ip: ":".repeat(1_000_000) } }],
      }),
    ).toHaveLength(1);
    // In quadratic time the test would take hours, and not end.
  });

  it("100,000 unknown keys are 100,000 issues", async () => {
    const keys = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`k${at}`, 1]));
    expect(await issuesOf(v1ContactSchema, { ...ada, ...keys })).toHaveLength(100_000);
  });
});

const json = (text: string): unknown => JSON.parse(text);

describe("__proto__ as an own key", () => {
  it.each<[string, keyof typeof schemas, unknown, string]>([
    [
      "of a v1 contact",
      "v1ContactSchema",
      json('{"email":"a@b","__proto__":{"polluted":1}}'),
      "__proto__ custom",
    ],
    [
      "of event data",
      "v1EventSchema",
      json('{"eventName":"x","contactUUID":"c","eventData":{"a":{"__proto__":1}}}'),
      "eventData.a.__proto__ custom",
    ],
    [
      "of a v2 contact",
      "v2ContactSchema",
      Object.assign(json('{"__proto__":{"polluted":1}}') as object, v2Ada),
      "__proto__ custom",
    ],
  ])("%s is refused and does not pollute a prototype", async (_, name, input, expected) => {
    expect(await verdict(schemas[name], input)).toEqual([expected]);
    expect(Reflect.get({}, "polluted")).toBeUndefined();
  });
});

it("A BigInt counts as its toJSON, where the program has given it one", async () => {
  onTestFinished(() => void Reflect.deleteProperty(BigInt.prototype, "toJSON"));
  Object.assign(BigInt.prototype, { toJSON: () => 5 });
  expect(await verdict(v1EventSchema, { ...order, eventData: { total: 5n } })).toEqual([]);
  Object.assign(BigInt.prototype, { toJSON: () => "5" });
  expect(await verdict(v1EventSchema, { ...order, eventData: { total: 5n } })).toEqual([]);
});

it("The input is never changed", async () => {
  const freeze = <Value>(value: Value): Value => {
    if (typeof value === "object" && value !== null) Object.values(Object.freeze(value)).forEach(freeze);
    return value;
  };
  const event = freeze({ ...order, contact: { ...ada, tags: [1] }, eventData: { a: [{ b: 1 }] } });
  expect(v1EventSchema.parse(event)).toEqual(event);
  const contact = freeze({ ...structuredClone(v2Ada), extra: { a: [1] } });
  expect(v2ContactSchema.parse(contact)).toEqual(contact);
  expect((await verdict(v1ContactSchema, freeze({ first_name: 5, Email: "x" }))).length).toBe(3);
});
