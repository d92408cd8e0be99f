import { AudienceClient } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import * as schemas from "audience-sdk/schemas";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { verdict } from "./issues.ts";

const { LIMITS } = schemas;

const requests = [
  "v1ContactSchema",
  "v1ListContactSchema",
  "v1EventSchema",
  "v1CustomerListQuerySchema",
  "v1ContactGroupListQuerySchema",
  "v2ContactSchema",
  "v2IdentifierSchema",
  "v2ListQuerySchema",
] as const;
const responses = ["v1ProfileSchema", "v1AddContactResultSchema", "v2ListPageSchema"] as const;
const fields = [
  "v1ContactFieldsSchema",
  "v1ListContactFieldsSchema",
  "v1EventFieldsSchema",
  "v2ContactFieldsSchema",
  "v2IdentifierFieldsSchema",
] as const;
const all = [...requests, ...responses, ...fields];

it("The entry exports the schemas, LIMITS and flattenProperties, and nothing else", () => {
  expect(Object.keys(schemas).toSorted()).toEqual([...all, "LIMITS", "flattenProperties"].toSorted());
});

const everySchema = Object.entries(schemas).flatMap(([name, value]): [string, z.ZodType][] =>
  value instanceof z.ZodType ? [[name, value]] : [],
);

describe.each(everySchema)("%s", (_, schema) => {
  it("is an ordinary zod schema, and a Standard Schema", async () => {
    expect(schema).toBeInstanceOf(z.ZodObject);
    expect(schema["~standard"].vendor).toBe("zod");
    const result = await schema["~standard"].validate(null);
    expect(result.issues?.map(({ message }) => message)).toEqual([expect.stringContaining("object")]);
  });

  it("has a JSON schema without options, in and out, for every draft", () => {
    expect(z.toJSONSchema(schema)).toMatchObject({ type: "object" });
    for (const target of ["draft-04", "draft-07", "draft-2020-12", "openapi-3.0"] as const) {
      for (const io of ["input", "output"] as const) {
        expect(z.toJSONSchema(schema, { target, io })).toHaveProperty("properties");
      }
    }
  });

  it("names only formats of JSON Schema", () => {
    const formats = JSON.stringify(schema.toJSONSchema()).matchAll(/"format":"(.*?)"/g);

    expect(["date", "ipv4", "ipv6"]).toEqual(expect.arrayContaining([...formats].map(([, name]) => name)));
  });
});

describe("The JSON schema contains the documented rules", () => {
  const dateTime = { type: "string", pattern: expect.stringContaining("T") as unknown };
  const ipFormats = ["ipv4", "ipv6"].map((format) => ({ type: "string", format }));

  it("of a v1 contact", () => {
    const shown = z.toJSONSchema(schemas.v1ContactSchema);
    expect(shown.additionalProperties).toBe(false);
    expect(shown.anyOf).toEqual([{ required: ["email"] }, { required: ["phone"] }]);
    expect(shown.required).toBeUndefined();
    expect(shown.properties).toMatchObject({
      email: { type: "string", pattern: expect.stringContaining("@") as unknown },
      phone: { type: "string", minLength: 7, maxLength: 20 },
      first_name: { type: "string", maxLength: 100 },
      address1: { type: "string", maxLength: 255 },
      postal_code: { type: "string", minLength: 3, maxLength: 20 },
      dob: { type: "string", format: "date" },
      gender: { type: "string", enum: ["MALE", "FEMALE", "OTHER"] },
      is_suppressed: { type: "boolean" },
      custom_properties: {
        type: "object",
        maxProperties: 30,
        additionalProperties: { type: ["string", "number", "boolean"] },
      },
    });
    expect(Object.keys(shown.properties ?? {})).toHaveLength(19);
    expect(z.toJSONSchema(schemas.v1ListContactSchema).required).toEqual(["email"]);
  });

  it("of an event", () => {
    expect(z.toJSONSchema(schemas.v1EventSchema)).toMatchObject({
      additionalProperties: false,
      required: ["eventName"],
      properties: { eventName: { minLength: 1 }, eventData: { type: "object", additionalProperties: {} } },
    });
  });

  it("of a v2 contact and its identifiers", () => {
    expect(z.toJSONSchema(schemas.v2ContactSchema)).toMatchObject({
      required: ["firstName", "listIds", "identifiers"],
      additionalProperties: {},
      properties: {
        birthDate: { type: "string", format: "date" },
        countryCode: { type: "string", pattern: "^[A-Za-z]{2}$" },
        createdAt: { anyOf: [dateTime, { type: "string", format: "date" }] },
        listIds: { type: "array", items: { type: "string" } },
        identifiers: { type: "array", minItems: 1 },
      },
    });
    expect(z.toJSONSchema(schemas.v2IdentifierSchema)).toMatchObject({
      required: ["type", "id", "channels", "consent"],
      properties: {
        type: { enum: ["email", "phone"] },
        consent: {
          required: ["createdAt", "ip", "source"],
          properties: { createdAt: dateTime, ip: { type: "string", anyOf: ipFormats } },
        },
      },
    });
  });

  it("of a query", () => {
    expect(z.toJSONSchema(schemas.v1ContactGroupListQuerySchema)).toMatchObject({
      additionalProperties: false,
      properties: { page: { type: "integer", minimum: 1 }, type: { enum: ["LIST", "SEGMENT", "ALL"] } },
    });
  });

  it("of an extended schema", () => {
    const form = schemas.v1EventFieldsSchema.extend({ plan: z.string() }).partial();
    expect(z.toJSONSchema(form).properties).toHaveProperty("plan");
  });
});

describe("A copy of a field, as refine and describe make it, shows the JSON schema of the field", () => {
  it.each<[string, z.ZodType]>([
    ["a text", schemas.v1ContactFieldsSchema.shape.first_name.unwrap()],
    ["an e-mail address", schemas.v1ContactFieldsSchema.shape.email.unwrap()],
    ["a string or a number", schemas.v2IdentifierSchema.shape.id],
    ["a date-time", schemas.v2IdentifierSchema.shape.consent.shape.createdAt],
  ])("%s", (_, field) => {
    const shown = z.toJSONSchema(field);

    expect(Object.keys(shown).length).toBeGreaterThan(1);
    expect(z.toJSONSchema(field.refine(() => true))).toEqual(shown);
    expect(z.toJSONSchema(field.describe("of the form"))).toEqual({ ...shown, description: "of the form" });
  });
});

describe("A bare safeParse is zod's safeParse", () => {
  it("but its message for unknown keys names them, and what the service does", () => {
    const { error } = schemas.v1ContactSchema.safeParse({
      email: "a@example.com",
      plan: "pro",
      firstName: "x",
    });

    expect(error?.issues).toMatchObject([
      { code: "unrecognized_keys", path: [], keys: ["plan", "firstName"] },
    ]);
    expect(error?.issues[0]?.message).toMatch(/^"plan", "firstName": unknown key, which the service refuses/);
  });

  it("uses the user's messages, except for the rules of this package", () => {
    z.config({ customError: () => "overridden" });
    try {
      const { error } = schemas.v1ContactSchema.safeParse({ gender: 5, email: "x", phone: "1" });
      expect(error?.issues.map(({ path, message }) => [path.join(), message.slice(0, 25)])).toEqual([
        ["email", "must be an e-mail address"],
        ["phone", "overridden"],
        ["gender", "overridden"],
      ]);
    } finally {
      z.config({ customError: undefined });
    }
  });
  it("works without code generation", () => {
    const result = schemas.v1ContactSchema.safeParse({ email: "a@b", x: 1 }, { jitless: true });
    expect(result.error?.issues).toMatchObject([{ code: "unrecognized_keys", keys: ["x"] }]);
  });
});

describe("LIMITS", () => {
  it("cannot be changed", () => {
    for (const limit of [LIMITS, ...Object.values(LIMITS), ...LIMITS.rate])
      expect(Object.isFrozen(limit)).toBe(true);
  });
});

const email = "ada@example.com";
const identifier = {
  type: "email",
  id: email,
  channels: {},
  consent: { createdAt: "2026-01-31T09:30:00Z", ip: "192.0.2.1", source: "form" },
};
const given = (createdAt: unknown) => ({ ...identifier, consent: { ...identifier.consent, createdAt } });
const properties = (custom_properties: unknown) => ({ email, custom_properties });
const event = (more: object) => ({ eventName: "order placed", contactUUID: "c1", ...more });
const many = Object.fromEntries(Array.from({ length: 31 }, (_, at) => [`k${at}`, 1]));

const cases: readonly [what: string, schema: z.ZodType, input: unknown, details: object][] = [
  [
    "a field of another kind",
    schemas.v1ContactSchema,
    { email: 5 },
    { code: "invalid_type", expected: "string" },
  ],
  ["an input that is no object", schemas.v1ContactSchema, 5, { code: "invalid_type", expected: "object" }],
  ["a response that is no object", schemas.v1ProfileSchema, 5, { code: "invalid_type", expected: "object" }],
  [
    "no list",
    schemas.v2ContactSchema,
    { firstName: "Ada", listIds: 5 },
    { code: "invalid_type", expected: "array" },
  ],
  ["no date-time", schemas.v2IdentifierSchema, given("x"), { code: "invalid_format", format: "datetime" }],
  [
    "a date-time of another kind",
    schemas.v2IdentifierSchema,
    given(5),
    { code: "invalid_type", expected: "date" },
  ],
  [
    "an invalid Date",
    schemas.v2IdentifierSchema,
    given(new Date(NaN)),
    { code: "invalid_type", expected: "date" },
  ],
  ["no day", schemas.v1ContactSchema, { email, dob: "x" }, { code: "invalid_format", format: "date" }],
  [
    "half a page",
    schemas.v2ListQuerySchema,
    { page: 0.5 },
    { code: "invalid_type", expected: "int", format: "safeint" },
  ],
  [
    "a page beyond all",
    schemas.v2ListQuerySchema,
    { page: 1e300 },
    { code: "too_big", origin: "int", maximum: Number.MAX_SAFE_INTEGER, inclusive: true },
  ],
  [
    "a page before all",
    schemas.v2ListQuerySchema,
    { page: -1e300 },
    { code: "too_small", origin: "int", minimum: -Number.MAX_SAFE_INTEGER, inclusive: true },
  ],
  [
    "a page before the first",
    schemas.v2ListQuerySchema,
    { page: 0 },
    { code: "too_small", origin: "number", minimum: 1, inclusive: true },
  ],
  [
    "a long text",
    schemas.v1ContactSchema,
    { email, city: "x".repeat(101) },
    { code: "too_big", origin: "string", maximum: 100, inclusive: true },
  ],
  [
    "a blank text",
    schemas.v1EventSchema,
    event({ contactUUID: " " }),
    { code: "invalid_format", format: "regex", pattern: String.raw`/\S/`, origin: "string" },
  ],
  [
    "an empty list",
    schemas.v2ContactSchema,
    { firstName: "Ada", listIds: [], identifiers: [] },
    { code: "too_small", origin: "array", minimum: 1, inclusive: true },
  ],
  ["no properties", schemas.v1ContactSchema, properties(5), { code: "invalid_type", expected: "record" }],
  [
    "31 properties",
    schemas.v1ContactSchema,
    properties(many),
    { code: "too_big", origin: "object", maximum: 30, inclusive: true },
  ],
  ["no data", schemas.v1EventSchema, event({ eventData: 5 }), { code: "invalid_type", expected: "record" }],
  [
    "none of a choice",
    schemas.v1ContactSchema,
    { email, gender: "x" },
    { values: ["MALE", "FEMALE", "OTHER"] },
  ],
  [
    "an unknown field",
    schemas.v1ContactSchema,
    { email, plan: 1 },
    { code: "unrecognized_keys", keys: ["plan"] },
  ],
];

describe("An issue of a schema has the details of zod's own issue, so that a form can translate it", () => {
  it.each(cases)("%s", (_, schema, input, details) => {
    expect(schema.safeParse(input).error?.issues[0]).toMatchObject(details);
  });
});

it("A refinement of the user is checked together with the package's rules", () => {
  const form = schemas.v1ContactSchema.refine(({ source }) => source !== undefined, { path: ["source"] });
  expect(form.safeParse({}).error?.issues.map(({ path }) => path)).toEqual([["email"], ["source"]]);
});

it.each([
  [
    "a v2 contact",
    schemas.v2ContactSchema,
    {
      firstName: "Ada",
      listIds: [],
      identifiers: [{ ...identifier, channels: { email: { status: "subscribed" } } }],
      extra: undefined,
    },
  ],
  [
    "an event's contact",
    schemas.v1EventSchema,
    { eventName: "seen", contact: { email: "a@b.c", extra: undefined } },
  ],
])("An undocumented field of %s whose value is undefined is omitted", (_, schema, value) => {
  expect(schema.safeParse(value).success).toBe(true);
});

it("An unknown field of a v1 contact whose value is undefined is left out", async () => {
  const mock = createMockService();
  const audience = new AudienceClient(mock.clientOptions);
  const row = { email: "ada@example.com", listIds: undefined };

  await audience.v1.customers.upsert(row);

  expect(mock.requests[0]?.body).toEqual({ email: "ada@example.com" });
});

const ada = { email: "ada@example.com" };
const order = { eventName: "order placed", contact: ada };
const emailIdentifier = { ...identifier, channels: { email: { status: "subscribed" } } };
const v2Ada = { firstName: "Ada", listIds: ["l1"], identifiers: [emailIdentifier] };

describe("The schemas without the cross-field rules can be extended, picked, omitted and made partial", () => {
  const bare = { ...v2Ada, identifiers: [{ ...emailIdentifier, channels: {} }] };
  const form = schemas.v1ContactFieldsSchema.extend({
    email: schemas.v1ListContactSchema.shape.email,
    plan: schemas.v1ContactFieldsSchema.shape.source,
  });

  it.each<[string, z.ZodType, unknown, ...string[]]>([
    ["v1, extended", form, { ...ada, plan: "pro" }],
    [
      "v1, extended, and strict",
      form,
      { plan: "x", other: 1 },
      "email invalid_type",
      "other unrecognized_keys",
    ],
    [
      "v1, picked",
      schemas.v1ContactFieldsSchema.pick({ email: true }),
      { ...ada, phone: "1234567", Email: "" },
      "phone unrecognized_keys",
      "Email unrecognized_keys",
    ],
    ["v1, omitted", schemas.v1ContactFieldsSchema.omit({ email: true }), ada, "email unrecognized_keys"],
    ["v1, partial", schemas.v1ListContactSchema.partial(), {}],
    ["v1, required", schemas.v1ContactFieldsSchema.required({ email: true }), {}, "email invalid_type"],
    ["event", schemas.v1EventFieldsSchema, { eventName: "e" }],
    [
      "event, extended",
      schemas.v1EventFieldsSchema.extend({ contact: schemas.v1EventFieldsSchema.shape.contactUUID }),
      { eventName: "e", contact: "c" },
    ],
    [
      "event, picked",
      schemas.v1EventFieldsSchema.pick({ eventName: true }),
      order,
      "contact unrecognized_keys",
    ],
    ["event, partial", schemas.v1EventFieldsSchema.partial(), {}],
    ["v2", schemas.v2ContactFieldsSchema, bare],
    [
      "v2, extended",
      schemas.v2ContactFieldsSchema.extend({ lastName: schemas.v2ContactFieldsSchema.shape.firstName }),
      v2Ada,
      "lastName invalid_type",
    ],
    ["v2, picked", schemas.v2ContactFieldsSchema.pick({ firstName: true }), {}, "firstName invalid_type"],
    ["v2, omitted and partial", schemas.v2ContactFieldsSchema.omit({ firstName: true }).partial(), {}],
    ["identifier", schemas.v2IdentifierFieldsSchema, { ...emailIdentifier, id: 5 }],
    [
      "identifier, extended",
      schemas.v2IdentifierFieldsSchema.extend({ label: schemas.v2IdentifierFieldsSchema.shape.type }),
      emailIdentifier,
      "label invalid_value",
    ],
    ["identifier, picked", schemas.v2IdentifierFieldsSchema.pick({ type: true }), {}, "type invalid_value"],
    [
      "identifier, omitted and partial",
      schemas.v2IdentifierFieldsSchema.omit({ consent: true }).partial(),
      {},
    ],
  ])("%s", async (_, schema, input, ...codes) => {
    expect(await verdict(schema, input)).toEqual(codes);
  });
});
