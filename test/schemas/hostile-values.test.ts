import { AudienceClient } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import {
  v1ContactFieldsSchema,
  v1ContactSchema,
  v1EventSchema,
  v1ListContactSchema,
  v2ContactSchema,
  v2IdentifierSchema,
  v2ListQuerySchema,
} from "audience-sdk/schemas";
import { describe, expect, test } from "vitest";
import * as z from "zod";

import { readIssues } from "../../src/validate.ts";
import { failureOf } from "../transport/failure.ts";
import { issuesOf, verdict } from "./judge.ts";

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

const throws = () => {
  throw new Error("hands off");
};
const trap = (target: object, handler: ProxyHandler<object>) => new Proxy(target, handler);
const deep = (levels: number) => {
  let value: unknown = "x";
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? { a: value } : [value];
  return value;
};
const wide = (levels: number) => {
  let value: unknown = "x";
  for (let level = 0; level < levels; level += 1) value = [value, value];
  return value;
};
const holes = Array.from<string>({ length: 0 });
holes.length = 4_000_000_000;
const huge = "x".repeat(10_000_000);

describe.each(Object.entries(schemas))("%s refuses, and never crashes on,", (_, schema) => {
  test.each<[string, unknown]>([
    ["undefined", undefined],
    ["null", null],
    ["a text", "x"],
    ["a function", () => 1],
    ["a symbol", Symbol("s")],
    ["a BigInt", 5n],
    ["a Map", new Map([["email", "a@b"]])],
    ["a Date", new Date(0)],
    ["an array", [ada]],
    [
      "a proxy whose every trap throws",
      trap(
        {},
        {
          get: throws,
          has: throws,
          ownKeys: throws,
          getOwnPropertyDescriptor: throws,
          getPrototypeOf: throws,
        },
      ),
    ],
    [
      "a proxy whose properties throw",
      trap({ email: 1, firstName: 1, type: 1, eventName: 1 }, { get: throws }),
    ],
    ["a proxy whose keys throw", trap({ ...ada }, { ownKeys: throws })],
    [
      "a revoked proxy",
      (() => {
        const { proxy, revoke } = Proxy.revocable({}, {});
        revoke();
        return proxy;
      })(),
    ],
    [
      "an object whose kind throws",
      {
        get [Symbol.toStringTag]() {
          return throws();
        },
      },
    ],
  ])("%s", (_name, input) => {
    expect(issuesOf(schema, input).length).toBeGreaterThan(0);
  });
});

describe("A getter that throws is an issue at its key", () => {
  test.each<[string, keyof typeof schemas, unknown, string]>([
    [
      "a field",
      "v1ContactSchema",
      {
        get email() {
          return throws();
        },
      },
      "email custom",
    ],
    [
      "a custom property",
      "v1ContactSchema",
      {
        ...ada,
        custom_properties: {
          get a() {
            return throws();
          },
        },
      },
      "custom_properties.a custom",
    ],
    [
      "event data",
      "v1EventSchema",
      {
        ...order,
        eventData: {
          a: [
            {
              get b() {
                return throws();
              },
            },
          ],
        },
      },
      "eventData.a.0.b custom",
    ],
    [
      "an event's contact",
      "v1EventSchema",
      {
        eventName: "x",
        contact: {
          get email() {
            return throws();
          },
        },
      },
      "contact.email custom",
    ],
    [
      "an identifier",
      "v2ContactSchema",
      {
        ...v2Ada,
        identifiers: [
          {
            ...identifier,
            get id() {
              return throws();
            },
          },
        ],
      },
      "identifiers.0.id custom",
    ],
    [
      "a field passed on",
      "v2ContactSchema",
      {
        ...v2Ada,
        get extra() {
          return throws();
        },
      },
      "extra custom",
    ],
    [
      "an item of a list",
      "v2ContactSchema",
      {
        ...v2Ada,
        listIds: trap(["a"], {
          get: (target, key): unknown => (key === "0" ? throws() : Reflect.get(target, key)),
        }),
      },
      "listIds.0 custom",
    ],
    [
      "an item of event data",
      "v1EventSchema",
      {
        ...order,
        eventData: {
          a: trap([1, 2], {
            get: (target, key): unknown => (key === "0" ? throws() : Reflect.get(target, key)),
          }),
        },
      },
      "eventData.a.0 custom",
    ],
  ])("in %s", (_, name, input, expected) => {
    expect(verdict(schemas[name], input)).toEqual([expected]);
  });

  test("where not even the keys can be read, is one at the value itself", () => {
    const contact = trap({ ...ada }, { ownKeys: throws });
    expect(verdict(v1ContactSchema, contact)).toEqual(["custom"]);
    expect(verdict(v1EventSchema, { eventName: "x", contact })).toEqual(["contact custom"]);
  });

  test("of an unknown v1 field is not run", () => {
    const input = {
      ...ada,
      get plan() {
        return throws();
      },
    };
    expect(verdict(v1ContactSchema, input)).toEqual(["plan unrecognized_keys"]);
  });

  test("what it throws is not shown", () => {
    const input = {
      get email() {
        throw new Error("secret-of-the-getter");
      },
    };
    expect(JSON.stringify(issuesOf(v1ContactSchema, input))).not.toContain("secret");
  });
});

describe("Depth, width and size have an end", () => {
  test("10,000 levels are refused in free data, and in an unknown field", () => {
    expect(verdict(v1EventSchema, { ...order, eventData: { a: deep(10_000) } })).toEqual([
      "eventData custom",
    ]);
    expect(verdict(v2ContactSchema, { ...v2Ada, extra: deep(10_000) })).toEqual(["extra custom"]);
    expect(verdict(v1ContactSchema, { ...ada, extra: deep(10_000) })).toEqual(["extra unrecognized_keys"]);
    expect(verdict(v1ContactSchema, { ...ada, custom_properties: { a: deep(10_000) } })).toEqual([
      "custom_properties.a invalid_type",
    ]);
  });

  test("1,000 levels pass, and can be written as JSON; one more is refused", () => {
    const event = v1EventSchema.parse({ ...order, eventData: { a: deep(999) } });
    expect(JSON.stringify(event).length).toBeGreaterThan(1_000);
    expect(verdict(v1EventSchema, { ...order, eventData: { a: deep(1_000) } })).toEqual(["eventData custom"]);
  });

  test("200,000 values pass, one more is refused", () => {
    const items = Array.from({ length: 199_999 }, () => 1);
    expect(verdict(v1EventSchema, { ...order, eventData: { items } })).toEqual([]);
    items.push(1);
    expect(verdict(v1EventSchema, { ...order, eventData: { items } })).toEqual(["eventData custom"]);
  });

  test("one object a billion times is refused, in bounded time", () => {
    expect(verdict(v1EventSchema, { ...order, eventData: { a: wide(30) } })).toEqual(["eventData custom"]);
  });

  test("an array of four billion holes is refused, in bounded time", () => {
    expect(verdict(v2ContactSchema, { ...v2Ada, listIds: holes })).toEqual(["listIds custom"]);
    expect(verdict(v2ContactSchema, { ...v2Ada, identifiers: holes })).toEqual(["identifiers custom"]);
    expect(verdict(v1EventSchema, { ...order, eventData: { a: holes } })).toHaveLength(100);
  });

  test("a cycle through a whole contact is refused", () => {
    const contact: Record<string, unknown> = { ...v2Ada };
    contact["self"] = contact;
    expect(issuesOf(v2ContactSchema, contact).map(({ path }) => path[0])).toContain("self");
  });

  test("texts of ten megabytes are judged in linear time", () => {
    const at = "@".repeat(10_000_000);
    const startedAt = performance.now();
    expect(verdict(v1ContactSchema, { ...ada, first_name: huge })).toEqual(["first_name too_big"]);
    expect(verdict(v1ContactSchema, { email: huge })).toEqual(["email invalid_format"]);
    expect(verdict(v1ContactSchema, { email: `${at} ` })).toEqual(["email invalid_format"]);
    expect(verdict(v1ContactSchema, { email: at })).toEqual([]);
    expect(verdict(v1ContactSchema, { ...ada, dob: huge, gender: huge, email_opt_in: huge })).toHaveLength(3);
    expect(verdict(v1ContactSchema, { ...ada, [huge]: 1 })).toEqual([`${huge} unrecognized_keys`]);
    expect(verdict(v2ContactSchema, { ...v2Ada, countryCode: huge, createdAt: huge })).toHaveLength(2);
    expect(
      verdict(v1EventSchema, { ...order, eventName: " ".repeat(10_000_000), eventData: { huge } }),
    ).toEqual([]);
    expect(
      verdict(v2ContactSchema, {
        ...v2Ada,
        identifiers: [{ ...identifier, consent: { ...identifier.consent, ip: ":".repeat(10_000_000) } }],
      }),
    ).toHaveLength(1);
    // About a tenth of this on a slow machine; quadratic time would be hours.
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });

  test("100,000 unknown keys are 100,000 issues", () => {
    const keys = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`k${at}`, 1]));
    expect(issuesOf(v1ContactSchema, { ...ada, ...keys })).toHaveLength(100_000);
  });
});

const json = (text: string): unknown => JSON.parse(text);

describe("__proto__ as an own key", () => {
  test.each<[string, keyof typeof schemas, unknown, string]>([
    [
      "of a v1 contact",
      "v1ContactSchema",
      json('{"email":"a@b","__proto__":{"polluted":1}}'),
      "__proto__ unrecognized_keys",
    ],
    [
      "of custom properties",
      "v1ContactSchema",
      json('{"email":"a@b","custom_properties":{"__proto__":"x"}}'),
      "custom_properties.__proto__ unrecognized_keys",
    ],
    [
      "of an event",
      "v1EventSchema",
      json('{"eventName":"x","contactUUID":"c","__proto__":{}}'),
      "__proto__ unrecognized_keys",
    ],
    [
      "of event data",
      "v1EventSchema",
      json('{"eventName":"x","contactUUID":"c","eventData":{"a":{"__proto__":1}}}'),
      "eventData.a.__proto__ custom",
    ],
    [
      "of an event's contact",
      "v1EventSchema",
      json('{"eventName":"x","contact":{"email":"a@b","__proto__":1}}'),
      "contact.__proto__ unrecognized_keys",
    ],
    [
      "of a v2 contact",
      "v2ContactSchema",
      Object.assign(json('{"__proto__":{"polluted":1}}') as object, v2Ada),
      "__proto__ unrecognized_keys",
    ],
  ])("%s is refused and pollutes nothing", (_, name, input, expected) => {
    expect(verdict(schemas[name], input)).toEqual([expected]);
    expect(Reflect.get({}, "polluted")).toBeUndefined();
  });

  test("an inherited contact is read as one, as a class instance with getters is", () => {
    class Person {
      get email() {
        return "ada@example.com";
      }
    }
    expect(v1ContactSchema.parse(new Person())).toEqual(ada);
    expect(v1ContactSchema.parse(Object.create(ada))).toEqual(ada);
    expect(v1ContactSchema.parse(Object.assign(Object.create(null), ada))).toEqual(ada);
  });
});

test("A symbol as a key is refused at every level", () => {
  const key = Symbol("s");
  expect(verdict(v1ContactSchema, { ...ada, [key]: 1 })).toEqual(["Symbol(s) unrecognized_keys"]);
  expect(verdict(v1ContactSchema, { ...ada, custom_properties: { [key]: 1 } })).toEqual([
    "custom_properties.Symbol(s) unrecognized_keys",
  ]);
  expect(verdict(v2ContactSchema, { ...v2Ada, identifiers: [{ ...identifier, [key]: 1 }] })).toEqual([
    "identifiers.0.Symbol(s) unrecognized_keys",
  ]);
});

test("A symbol that is not enumerable is no key of JSON's", () => {
  const hidden = Object.defineProperty({ ...ada }, Symbol("s"), { value: 1, enumerable: false });
  expect(verdict(v1ContactSchema, hidden)).toEqual([]);
});

/** An object whose field cannot be read the first time. */
const throwsOnce = (field: string) => {
  let isFirst = true;
  return {
    get [field]() {
      if (!isFirst) return "x";
      isFirst = false;
      return throws();
    },
  };
};

describe("What cannot be read, but for the second time,", () => {
  test("is not sent", async () => {
    const mock = createMockService();
    const { v1 } = new AudienceClient(mock.clientOptions);

    const error = await failureOf(v1.customers.upsert(throwsOnce("email")));

    expect(error).toMatchObject({
      issues: [{ path: [], message: expect.stringContaining("cannot be read") }],
    });
    expect(mock.requests).toEqual([]);
  });

  test("is no list", () => {
    let isFirst = true;
    const list = trap([], {
      get: (target, key) => {
        if (!isFirst) return Reflect.get(target, key) as unknown;
        isFirst = false;
        return throws();
      },
    });
    expect(readIssues(v2ContactSchema.safeParse({ ...v2Ada, listIds: list }).error!)).toMatchObject([
      { path: ["listIds"], message: expect.stringContaining("cannot be read") },
    ]);
  });

  test("is no set of properties", () => {
    const contact = { ...ada, custom_properties: throwsOnce("plan") };
    expect(readIssues(v1ContactSchema.safeParse(contact).error!)).toMatchObject([
      { path: ["custom_properties"], code: "custom", message: expect.stringContaining("cannot be read") },
    ]);
  });
});

test("A getter that throws at some of its reads, whichever, throws nothing out of a schema", () => {
  for (let pattern = 0; pattern < 2 ** 8; pattern++) {
    let reads = 0;
    const input = {
      ...ada,
      get first_name() {
        return (pattern >> reads++) & 1 ? throws() : "Ada";
      },
    };
    expect(() => v1ContactSchema.safeParse(input), pattern.toString(2)).not.toThrow();
  }
});

test("A proxy that is revoked while what is wrong is looked for has an issue too", () => {
  let reads = 0;
  const { proxy, revoke } = Proxy.revocable<object>(
    {},
    {
      get: () => {
        if (++reads > 1) revoke();
        return throws();
      },
      ownKeys: () => ["email"],
      getOwnPropertyDescriptor: () => ({ value: 1, enumerable: true, configurable: true }),
    },
  );
  expect(readIssues(v1ContactSchema.safeParse(proxy).error!)).toHaveLength(1);
});

test("The input is never changed", () => {
  const freeze = <Value>(value: Value): Value => {
    if (typeof value === "object" && value !== null) Object.values(Object.freeze(value)).forEach(freeze);
    return value;
  };
  const event = freeze({ ...order, contact: { ...ada, tags: [1] }, eventData: { a: [{ b: 1 }] } });
  expect(v1EventSchema.parse(event)).toEqual(event);
  const contact = freeze({ ...structuredClone(v2Ada), extra: { a: [1] } });
  expect(v2ContactSchema.parse(contact)).toEqual(contact);
  expect(verdict(v1ContactSchema, freeze({ first_name: 5, Email: "x" })).length).toBe(3);
});

test("An error thrown by a check that the user added is theirs, not an issue", () => {
  expect(() => v1ContactSchema.refine(() => throws()).safeParse(ada)).toThrow("hands off");
  const form = v1ContactFieldsSchema.extend({ source: z.string().refine(() => throws()) });
  expect(() => form.safeParse({ ...ada, source: "form" })).toThrow("hands off");
});

test("A check of the user's own may take its time", async () => {
  const form = v1ContactFieldsSchema.extend({ source: z.string().refine(async (text) => text !== "spam") });
  const { error } = await form.safeParseAsync({ ...ada, source: "spam", plan: "pro" });
  expect(readIssues(error!).map(({ path, code }) => [path, code])).toEqual([
    [["plan"], "unrecognized_keys"],
    [["source"], "custom"],
  ]);
});

test("A strict object that the user put in has one issue for each unknown key, too", () => {
  const form = v1ContactFieldsSchema.extend({ address: z.strictObject({ street: z.string() }) });
  expect(verdict(form, { ...ada, address: { street: "x", a: 1, b: 2 } })).toEqual([
    "address.a unrecognized_keys",
    "address.b unrecognized_keys",
  ]);
});

describe("What only looks like an object is not read as an empty one", () => {
  test.each([new Map(), new Set(), new Date(0), new Error("x"), /x/, Object("x"), new Uint8Array(1)])(
    "%s",
    (value) => {
      expect(verdict(v2ListQuerySchema, value)).toEqual(["invalid_type"]);
      const phone = { ...identifier, type: "phone", channels: value };
      expect(verdict(v2ContactSchema, { ...v2Ada, identifiers: [identifier, phone] })).toEqual([
        "identifiers.1.channels invalid_type",
      ]);
    },
  );
});
