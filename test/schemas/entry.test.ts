import * as schemas from "audience-sdk/schemas";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { dateTimes, daysAndDateTimes, emailAddresses, notAlone } from "../document/formats.ts";
import { consent, emailIdentifier, v2Contact } from "../document/service.ts";
import { countryCode as countryCodes, day, ipAddress } from "../properties/payloads/fields.ts";
import { verdict } from "./issues.ts";

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

  it("has a JSON schema without options, in and out, for every draft, with formats of JSON Schema alone", () => {
    expect(z.toJSONSchema(schema)).toMatchObject({ type: "object" });
    for (const target of ["draft-04", "draft-07", "draft-2020-12", "openapi-3.0"] as const)
      for (const io of ["input", "output"] as const)
        expect(z.toJSONSchema(schema, { target, io })).toHaveProperty("properties");
    const formats = JSON.stringify(schema.toJSONSchema()).matchAll(/"format":"(.*?)"/g);

    expect(["date", "ipv4", "ipv6"]).toEqual(expect.arrayContaining([...formats].map(([, name]) => name)));
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

  it("refuses in free data what JSON would lose", () => {
    const event = { eventName: "seen", contactUUID: "c1", eventData: { a: [null] } };
    expect(schemas.v1EventSchema.safeParse(event).success).toBe(false);
    expect(schemas.v2ContactSchema.safeParse(v2Contact({ extra: NaN })).success).toBe(false);
    expect(schemas.v1ContactSchema.safeParse({ phone: undefined }).success).toBe(false);
  });
});

const ada = { email: "ada@example.com" };
const identifier = emailIdentifier("ada@example.com");
const v2Ada = v2Contact();
const consented = (createdAt: unknown) => ({ ...identifier, consent: { ...consent, createdAt } });
const many = Object.fromEntries(Array.from({ length: 31 }, (_, at) => [`k${at}`, 1]));

/** The rules that zod does not have. */
describe("An issue of a schema has the details of zod's own issue, so that a form can translate it", () => {
  const { v1ContactSchema, v2IdentifierSchema } = schemas;
  const length = { origin: "string", inclusive: true };

  it.each<[object, z.ZodType, unknown]>([
    [{ code: "invalid_format", format: "email" }, v1ContactSchema, { email: "x" }],
    [{ code: "invalid_format", format: "ip" }, v2IdentifierSchema.shape.consent.shape.ip, "x"],
    [{ code: "invalid_format", format: "datetime" }, v2IdentifierSchema, consented("x")],
    [{ code: "invalid_type", expected: "date" }, v2IdentifierSchema, consented(5)],
    [{ code: "invalid_type", expected: "date" }, v2IdentifierSchema, consented(new Date(NaN))],
    [{ code: "too_big", maximum: 100, ...length }, v1ContactSchema, { ...ada, city: "x".repeat(101) }],
    [{ code: "too_small", minimum: 7, ...length }, v1ContactSchema, { phone: "1" }],
    [
      { code: "too_big", origin: "object", maximum: 30, inclusive: true },
      v1ContactSchema,
      { ...ada, custom_properties: many },
    ],
    [
      { code: "invalid_value", values: ["subscribed", "unsubscribed"] },
      v2IdentifierSchema,
      emailIdentifier("a@b", "SUBSCRIBED"),
    ],
  ])("%j", (details, schema, input) => {
    expect(schema.safeParse(input).error?.issues[0]).toMatchObject(details);
  });
});

it("A refinement of the user is checked together with the package's rules", () => {
  const form = schemas.v1ContactSchema.refine(({ source }) => source !== undefined, { path: ["source"] });
  expect(form.safeParse({}).error?.issues.map(({ path }) => path)).toEqual([["email"], ["source"]]);
});

describe("The schemas without the cross-field rules can be extended, picked, omitted and made partial", () => {
  const bare = { ...v2Ada, identifiers: [{ ...identifier, channels: {} }] };
  const {
    v1ContactFieldsSchema: v1,
    v1EventFieldsSchema: event,
    v2ContactFieldsSchema: v2,
    v2IdentifierFieldsSchema: v2Identifier,
  } = schemas;
  const { shape: required } = schemas.v1ListContactSchema;
  const form = v1.extend({ email: required.email, plan: v1.shape.source });

  it.each<[string, z.ZodType, unknown, ...string[]]>([
    ["v1, extended", form, { ...ada, plan: "pro" }],
    ["v1, extended, strict", form, { plan: "x", no: 1 }, "email invalid_type", "no unrecognized_keys"],
    ["v1, picked", v1.pick({ email: true }), { ...ada, phone: "1234567" }, "phone unrecognized_keys"],
    ["v1, omitted", v1.omit({ email: true }), ada, "email unrecognized_keys"],
    ["v1, required", v1.required({ email: true }), {}, "email invalid_type"],
    ["event", event, { eventName: "e" }],
    ["event, extended", event.extend({ contact: event.shape.contactUUID }), { eventName: "e", contact: "c" }],
    ["v2", v2, bare],
    ["v2, extended", v2.extend({ lastName: v2.shape.firstName }), v2Ada, "lastName invalid_type"],
    ["v2, picked", v2.pick({ firstName: true }), {}, "firstName invalid_type"],
    ["identifier", v2Identifier, { ...identifier, id: 5 }],
    [
      "identifier, extended",
      v2Identifier.extend({ label: v2Identifier.shape.type }),
      identifier,
      "label invalid_value",
    ],
    ["identifier, omitted and partial", v2Identifier.omit({ consent: true }).partial(), {}],
  ])("%s", async (_, schema, input, ...codes) => {
    expect(await verdict(schema, input)).toEqual(codes);
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

  it("of a v2 contact and its identifiers", () => {
    expect(z.toJSONSchema(schemas.v2ContactSchema)).toMatchObject({
      required: ["firstName", "listIds", "identifiers"],
      additionalProperties: {},
      properties: {
        countryCode: { type: "string", pattern: "^[A-Za-z]{2}$" },
        createdAt: { anyOf: [dateTime, { type: "string", format: "date" }] },
        identifiers: { type: "array", minItems: 1 },
      },
    });
    expect(z.toJSONSchema(schemas.v2IdentifierSchema)).toMatchObject({
      properties: {
        consent: { properties: { createdAt: dateTime, ip: { type: "string", anyOf: ipFormats } } },
      },
    });
  });
});

describe("The JSON schema has no stricter rule than the schema itself", () => {
  const v1InJson = z.fromJSONSchema(schemas.v1ContactSchema.toJSONSchema());
  const v2InJson = z.fromJSONSchema(schemas.v2ContactSchema.toJSONSchema());
  const contactWith = (change: object) => ({ ...v2Contact(), ...change });
  const identified = (change: object) =>
    v2Contact({ identifiers: [{ ...emailIdentifier("a@b"), consent: { ...consent, ...change } }] });

  it.each<[string, z.ZodType, readonly object[]]>([
    ["e-mail address", v1InJson, emailAddresses.allowed.map((email) => ({ email }))],
    ["day of birth", v1InJson, day.allowed.map((dob) => ({ email: "a@b", dob }))],
    ["day of birth of v2", v2InJson, day.allowed.map((birthDate) => contactWith({ birthDate }))],
    ["time of creation", v2InJson, daysAndDateTimes.allowed.map((createdAt) => contactWith({ createdAt }))],
    ["country code", v2InJson, countryCodes.allowed.map((countryCode) => contactWith({ countryCode }))],
    ["time of a consent", v2InJson, dateTimes.allowed.map((createdAt) => identified({ createdAt }))],
    ["IP address", v2InJson, ipAddress.allowed.map((ip) => identified({ ip }))],
  ])("accepts every %s", (_, schema, inputs) => {
    for (const input of inputs) expect(schema.safeParse(input).error).toBeUndefined();
  });

  it.each<[string, z.ZodType, object]>([
    ...notAlone.map((email): [string, z.ZodType, object] => [email, v1InJson, { email }]),
    ["an e-mail address with a space", v1InJson, { email: "a b@c" }],
    ["no date-time", v2InJson, v2Contact({ createdAt: "2023-02-29T00:00:00Z" })],
    ["a day as the time of a consent", v2InJson, identified({ createdAt: "2026-01-31" })],
    ["no IP address", v2InJson, identified({ ip: "localhost" })],
  ])("refuses %s", (_, schema, input) => {
    expect(schema.safeParse(input).success).toBe(false);
  });
});
