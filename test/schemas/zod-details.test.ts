import { AudienceClient } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import {
  v1ContactSchema,
  v1EventSchema,
  v1ProfileSchema,
  v2ContactSchema,
  v2IdentifierSchema,
  v2ListQuerySchema,
} from "audience-sdk/schemas";
import { describe, expect, test } from "vitest";
import type * as z from "zod";

const email = "ada@example.com";
const identifier = {
  type: "email",
  id: email,
  channels: {},
  consent: { createdAt: "2026-01-31T09:30:00Z", ip: "192.0.2.1", source: "form" },
};
const given = (createdAt: unknown) => ({ ...identifier, consent: { ...identifier.consent, createdAt } });
const properties = (custom_properties: unknown) => ({ email, custom_properties });
const event = (fields: object) => ({ eventName: "order placed", contactUUID: "c1", ...fields });
const many = Object.fromEntries(Array.from({ length: 31 }, (_, at) => [`k${at}`, 1]));

const cases: readonly [what: string, schema: z.ZodType, input: unknown, details: object][] = [
  ["a field of another kind", v1ContactSchema, { email: 5 }, { code: "invalid_type", expected: "string" }],
  ["an input that is no object", v1ContactSchema, 5, { code: "invalid_type", expected: "object" }],
  ["a response that is no object", v1ProfileSchema, 5, { code: "invalid_type", expected: "object" }],
  ["no list", v2ContactSchema, { firstName: "Ada", listIds: 5 }, { code: "invalid_type", expected: "array" }],
  ["no date-time", v2IdentifierSchema, given("x"), { code: "invalid_format", format: "datetime" }],
  ["a date-time of another kind", v2IdentifierSchema, given(5), { code: "invalid_type", expected: "date" }],
  ["an invalid Date", v2IdentifierSchema, given(new Date(NaN)), { code: "invalid_type", expected: "date" }],
  ["no day", v1ContactSchema, { email, dob: "x" }, { code: "invalid_format", format: "date" }],
  [
    "half a page",
    v2ListQuerySchema,
    { page: 0.5 },
    { code: "invalid_type", expected: "int", format: "safeint" },
  ],
  [
    "a page beyond all",
    v2ListQuerySchema,
    { page: 1e300 },
    { code: "too_big", origin: "int", maximum: Number.MAX_SAFE_INTEGER, inclusive: true },
  ],
  [
    "a page before all",
    v2ListQuerySchema,
    { page: -1e300 },
    { code: "too_small", origin: "int", minimum: -Number.MAX_SAFE_INTEGER, inclusive: true },
  ],
  [
    "a page before the first",
    v2ListQuerySchema,
    { page: 0 },
    { code: "too_small", origin: "number", minimum: 1, inclusive: true },
  ],
  [
    "a long text",
    v1ContactSchema,
    { email, city: "x".repeat(101) },
    { code: "too_big", origin: "string", maximum: 100, inclusive: true },
  ],
  [
    "a blank text",
    v1EventSchema,
    event({ contactUUID: " " }),
    { code: "invalid_format", format: "regex", pattern: String.raw`/\S/`, origin: "string" },
  ],
  [
    "an empty list",
    v2ContactSchema,
    { firstName: "Ada", listIds: [], identifiers: [] },
    { code: "too_small", origin: "array", minimum: 1, inclusive: true },
  ],
  ["no properties", v1ContactSchema, properties(5), { code: "invalid_type", expected: "record" }],
  [
    "31 properties",
    v1ContactSchema,
    properties(many),
    { code: "too_big", origin: "object", maximum: 30, inclusive: true },
  ],
  ["no data", v1EventSchema, event({ eventData: 5 }), { code: "invalid_type", expected: "record" }],
  ["none of a choice", v1ContactSchema, { email, gender: "x" }, { values: ["MALE", "FEMALE", "OTHER"] }],
  ["an unknown field", v1ContactSchema, { email, plan: 1 }, { code: "unrecognized_keys", keys: ["plan"] }],
];

describe("An issue of a schema has the details of zod's own issue, so that a form can translate it", () => {
  test.each(cases)("%s", (_, schema, input, details) => {
    expect(schema.safeParse(input).error?.issues[0]).toMatchObject(details);
  });
});

test("A refinement of the user is checked together with the package's rules", () => {
  const form = v1ContactSchema.refine(({ source }) => source !== undefined, { path: ["source"] });
  expect(form.safeParse({}).error?.issues.map(({ path }) => path)).toEqual([["email"], ["source"]]);
});

test.each([
  [
    "a v2 contact",
    v2ContactSchema,
    {
      firstName: "Ada",
      listIds: [],
      identifiers: [{ ...identifier, channels: { email: { status: "subscribed" } } }],
      extra: undefined,
    },
  ],
  ["an event's contact", v1EventSchema, { eventName: "seen", contact: { email: "a@b.c", extra: undefined } }],
])("An undocumented field of %s whose value is undefined is omitted", (_, schema, value) => {
  expect(schema.safeParse(value).success).toBe(true);
});

test("An unknown field of a v1 contact whose value is undefined is left out", async () => {
  const mock = createMockService();
  const audience = new AudienceClient(mock.clientOptions);
  const row = { email: "ada@example.com", listIds: undefined };

  await audience.v1.customers.upsert(row);

  expect(mock.requests[0]?.body).toEqual({ email: "ada@example.com" });
});
