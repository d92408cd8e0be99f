import { inspect } from "node:util";
import {
  v1ContactFieldsSchema,
  v1ContactGroupListQuerySchema,
  v1ContactSchema,
  v1CustomerListQuerySchema,
  v1EventFieldsSchema,
  v1EventSchema,
  v1ListContactSchema,
  v2ContactFieldsSchema,
  v2ContactSchema,
  v2IdentifierFieldsSchema,
  v2IdentifierSchema,
  v2ListQuerySchema,
} from "audience-sdk/schemas";
import { describe, expect, it } from "vitest";
import type * as z from "zod";
import { issuesOf, messageAt, verdict } from "./issues.ts";

// Which values each field takes is in test/document: here is by which code and at which path an issue tells it.

const ada = { email: "ada@example.com" };
const order = { eventName: "order placed", contact: ada };
const consent = { createdAt: "2026-01-31T09:30:00Z", ip: "192.0.2.1", source: "form" };
const subscribed = { status: "subscribed" };
const emailIdentifier = { type: "email", id: ada.email, channels: { email: subscribed }, consent };
const phoneIdentifier = { type: "phone", id: "+49123", channels: { phone: subscribed }, consent };
const v2Ada = { firstName: "Ada", listIds: ["l1"], identifiers: [emailIdentifier] };
const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, "v"]));
const without = (object: object, key: string) =>
  Object.fromEntries(Object.entries(object).filter(([name]) => name !== key));

type Case = readonly [what: string, input: unknown, ...codes: string[]];

const bounds: Case[] = [
  ["phone", 20],
  ["first_name", 100],
  ["last_name", 100],
  ["country", 100],
  ["state", 100],
  ["city", 100],
  ["address1", 255],
  ["address2", 255],
  ["postal_code", 20],
].map(([field, max]) => [
  `a long ${field}`,
  { ...ada, [field!]: "🚀".repeat(Number(max) + 1) },
  `${field} too_big`,
]);

const v1Contacts: Case[] = [
  ...bounds,
  ["a short phone", { phone: "🚀".repeat(6) }, "phone too_small"],
  ["a short postal code", { ...ada, postal_code: "12" }, "postal_code too_small"],
  ["neither email nor phone", { first_name: "Ada" }, "email custom"],
  ["an email and a phone that are undefined", { email: undefined, phone: undefined }, "email custom"],
  ["a text of another kind", { ...ada, city: 5 }, "city invalid_type"],
  ["a boolean of another kind", { ...ada, is_suppressed: "true" }, "is_suppressed invalid_type"],
  ["a consent in another case", { ...ada, email_opt_in: "subscribed" }, "email_opt_in invalid_value"],
  ["an empty gender", { ...ada, gender: "" }, "gender invalid_value"],
  ["an array", [ada], "invalid_type"],
  ["unknown fields", { ...ada, plan: "pro", seats: 5 }, "plan unrecognized_keys", "seats unrecognized_keys"],
  [
    "30 properties and one that is undefined",
    { ...ada, custom_properties: { ...keys(30), gone: undefined } },
  ],
  ["31 properties", { ...ada, custom_properties: keys(31) }, "custom_properties too_big"],
  ...[{ a: 1 }, ["a"], new Date(0), null, NaN, Infinity, 5n, Symbol("s"), () => 1].map((pet): Case => [
    `the property ${inspect(pet)}`,
    { ...ada, custom_properties: { pet, b: "x" } },
    "custom_properties.pet invalid_type",
  ]),
  ...[null, "a", 5, [], new Map([["a", "b"]]), new Date(0)].map((custom_properties): Case => [
    `${inspect(custom_properties)} as properties`,
    { ...ada, custom_properties },
    "custom_properties invalid_type",
  ]),
  [
    "wrong fields, unknown fields and the rule over several fields",
    { firstName: "Ada", first_name: 5, gender: "male", custom_properties: { pet: { name: "Rex" } } },
    "custom_properties.pet invalid_type",
    "email custom",
    "firstName unrecognized_keys",
    "first_name invalid_type",
    "gender invalid_value",
  ],
];

const events: Case[] = [
  ["a contact by its e-mail", { eventName: "e", contact: ada }],
  ["a contactUUID in the contact", { eventName: "e", contact: { contactUUID: "c1" } }],
  ["a contactUUID at the root", { eventName: "e", contactUUID: "c1" }],
  ["a contactUUID at the root, with an empty contact", { eventName: "e", contactUUID: "c1", contact: {} }],
  ["all names", { eventName: "e", contactUUID: "c1", contact: { ...ada, contactUUID: "c1" } }],
  ["no contact", { eventName: "e" }, "contact custom"],
  ["a contact without a name", { eventName: "e", contact: { name: "Ada" } }, "contact custom"],
  [
    "a blank contactUUID",
    { eventName: "e", contact: { contactUUID: " " } },
    "contact.contactUUID invalid_format",
  ],
  ["an empty contactUUID at the root", { eventName: "e", contactUUID: "" }, "contactUUID invalid_format"],
  ["no eventName", { contact: ada }, "eventName invalid_type"],
  ["an empty eventName", { ...order, eventName: "" }, "eventName too_small"],
  ["a uniqueIdentifier that is undefined", { ...order, uniqueIdentifier: undefined }],
  ["an empty uniqueIdentifier", { ...order, uniqueIdentifier: "" }, "uniqueIdentifier too_small"],
  ["a uniqueIdentifier of another kind", { ...order, uniqueIdentifier: 5 }, "uniqueIdentifier invalid_type"],
  ["further keys of the contact", { ...order, contact: { ...ada, first_name: "Ada", tags: ["a"] } }],
  ["null in the contact", { ...order, contact: { ...ada, first_name: null } }, "contact.first_name custom"],
  ["a wrong e-mail", { ...order, contact: { email: "ada" } }, "contact.email invalid_format"],
  ["a text for the contact", { ...order, contact: "ada@example.com" }, "contact invalid_type"],
  ["another field", { ...order, unique_identifier: "x" }, "unique_identifier unrecognized_keys"],
  [
    "several problems",
    { eventName: "", contact: {}, eventData: { a: null }, x: 1 },
    "contact custom",
    "eventData.a custom",
    "eventName too_small",
    "x unrecognized_keys",
  ],
];

const v2Contacts: Case[] = [
  ["nothing", {}, "firstName invalid_type", "identifiers invalid_type", "listIds invalid_type"],
  ["a text of another kind", { ...v2Ada, lastName: NaN }, "lastName invalid_type"],
  [
    "a boolean of another kind",
    { ...v2Ada, triggerWelcomeEmail: "true" },
    "triggerWelcomeEmail invalid_type",
  ],
  ["1,001 lists", { ...v2Ada, listIds: Array.from({ length: 1_001 }, (_, at) => `list-${at}`) }],
  ["a text for the lists", { ...v2Ada, listIds: "l1" }, "listIds invalid_type"],
  [
    "lists of other kinds",
    { ...v2Ada, listIds: ["a", 5, null, undefined] },
    "listIds.1 invalid_type",
    "listIds.2 invalid_type",
    "listIds.3 invalid_type",
  ],
  ["no identifier", { ...v2Ada, identifiers: [] }, "identifiers too_small"],
  ["an identifier alone", { ...v2Ada, identifiers: emailIdentifier }, "identifiers invalid_type"],
  ["an undocumented field that is undefined", { ...v2Ada, score: undefined }],
  ["an optional field in the wrong case", { ...v2Ada, last_name: "Lovelace" }],
  [
    "undocumented fields that JSON cannot carry",
    { ...v2Ada, score: null, size: NaN, map: new Map() },
    "map custom",
    "score custom",
    "size custom",
  ],
  [
    "one in an identifier",
    { ...v2Ada, identifiers: [{ ...emailIdentifier, label: null }] },
    "identifiers.0.label custom",
  ],
  [
    "the channel rule beside other problems",
    { identifiers: [{ ...emailIdentifier, channels: {}, consent: { ...consent, ip: "x" } }] },
    "firstName invalid_type",
    "identifiers.0.channels.email custom",
    "identifiers.0.consent.ip invalid_format",
    "listIds invalid_type",
  ],
];

const identifiers: Case[] = [
  ["no type", without(emailIdentifier, "type"), "type invalid_value"],
  ["no id", without(emailIdentifier, "id"), "id invalid_type"],
  ["no channels", without(emailIdentifier, "channels"), "channels invalid_type"],
  ["no consent", without(emailIdentifier, "consent"), "consent invalid_type"],
  ...(["createdAt", "ip", "source"] as const).map((field): Case => [
    `a consent without ${field}`,
    { ...emailIdentifier, consent: without(consent, field) },
    `consent.${field} invalid_type`,
  ]),
  ["a type in another case", { ...emailIdentifier, type: "Email" }, "type invalid_value"],
  ...["1", "x".repeat(1_000), 4_912_345_678, 0].map((id): Case => [
    `a phone ${String(id).slice(0, 12)}`,
    { ...phoneIdentifier, id },
  ]),
  ...[NaN, Infinity, true, {}, [], null, 5n].map((id): Case => [
    `a phone ${inspect(id)}`,
    { ...phoneIdentifier, id },
    "id invalid_type",
  ]),
  ["an e-mail that is a number", { ...emailIdentifier, id: 5 }, "id custom"],
  ["a wrong e-mail", { ...emailIdentifier, id: "ada" }, "id custom"],
  ["an e-mail that is null", { ...emailIdentifier, id: null }, "id invalid_type"],
  ...["whatever", "", "pending", "un-subscribed", "subscribed ", "resubscribed"].map((status): Case => [
    `the status ${JSON.stringify(status)}`,
    { ...emailIdentifier, channels: { email: { status } } },
  ]),
  ["no status", { ...emailIdentifier, channels: { email: {} } }, "channels.email.status invalid_type"],
  ["a text for a channel", { ...emailIdentifier, channels: { email: "x" } }, "channels.email invalid_type"],
];

const queries: Case[] = [
  ["nothing", { page: undefined, limit: undefined }],
  ["a late page", { page: 1_000_000 }],
  ["a limit over 100, which the service treats as 100", { limit: 101 }],
  ...["page", "limit"].flatMap((field): Case[] => [
    ...[0, -1].map((value): Case => [`${field} ${value}`, { [field]: value }, `${field} too_small`]),
    ...[1.5, NaN, Infinity, "1", null, true, 1n].map((value): Case => [
      `${field} ${String(value)}`,
      { [field]: value },
      `${field} invalid_type`,
    ]),
    [`${field} beyond all`, { [field]: 2 ** 53 }, `${field} too_big`],
  ]),
  ["other keys", { Page: 1, per_page: 5 }, "Page unrecognized_keys", "per_page unrecognized_keys"],
];

describe.each<[string, z.ZodType, readonly Case[]]>([
  ["A v1 contact", v1ContactSchema, v1Contacts],
  [
    "A contact of a list",
    v1ListContactSchema,
    [["a phone alone", { phone: "1234567" }, "email invalid_type"]],
  ],
  ["A custom event", v1EventSchema, events],
  ["A v2 contact", v2ContactSchema, v2Contacts],
  ["A v2 identifier", v2IdentifierSchema, identifiers],
  ["A query for customers", v1CustomerListQuerySchema, queries],
  ["A query for contact groups", v1ContactGroupListQuerySchema, queries],
  ["A query for v2 lists", v2ListQuerySchema, queries],
  [
    "A query for customers has no type",
    v1CustomerListQuerySchema,
    [["LIST", { type: "LIST" }, "type unrecognized_keys"]],
  ],
  [
    "The type of a query",
    v1ContactGroupListQuerySchema,
    [
      ["LIST", { type: "LIST" }],
      ["SEGMENT", { type: "SEGMENT" }],
      ["ALL", { type: "ALL" }],
      ["in another case", { type: "list" }, "type invalid_value"],
    ],
  ],
])("%s, issues by path and code", (_, schema, cases) => {
  it.each(cases.map(([what, input, ...codes]) => ({ what, input, codes })))(
    "$what",
    async ({ input, codes }) => {
      expect((await verdict(schema, input)).toSorted()).toEqual(codes);
    },
  );
});

it("An index of a list is a number in the path", async () => {
  expect((await issuesOf(v2ContactSchema, { ...v2Ada, listIds: ["a", 5] }))[0]?.path).toEqual(["listIds", 1]);
});

it.each([
  ["Subscribed", "must be written subscribed: case counts"],
  ["SUBSCRIBED", "must be written subscribed: case counts"],
  ["UNSUBSCRIBED", "must be written unsubscribed: case counts"],
  [
    "NON_SUBSCRIBED",
    "must be another status, as NON_SUBSCRIBED is one of v1 alone: v2 has subscribed and unsubscribed",
  ],
  [
    "non_subscribed",
    "must be another status, as non_subscribed is one of v1 alone: v2 has subscribed and unsubscribed",
  ],
])("A channel's status is no known one in another case, and no word of v1: %s", async (status, message) => {
  for (const channel of ["email", "phone"]) {
    const given = { ...emailIdentifier, channels: { email: subscribed, [channel]: { status } } };
    const path = `channels.${channel}.status`;
    expect(await verdict(v2IdentifierSchema, given)).toEqual([`${path} invalid_value`]);
    expect(await messageAt(v2IdentifierSchema, given, path)).toBe(message);
  }
});

it.each<[string, string, z.ZodType, object, string]>([
  [
    "Type",
    "type",
    v2IdentifierSchema,
    { ...without(emailIdentifier, "type"), Type: "email" },
    '"Type" was given',
  ],
  [
    "created_at",
    "consent.createdAt",
    v2IdentifierSchema,
    { ...emailIdentifier, consent: { created_at: "2026-01-31T09:30:00Z", ip: "::1", source: "x" } },
    '"created_at" was given',
  ],
  ["event_name", "eventName", v1EventSchema, { contact: ada, event_name: "e" }, '"event_name" was given'],
  [
    "unique_identifier",
    "unique_identifier",
    v1EventSchema,
    { ...order, unique_identifier: "x" },
    'write "uniqueIdentifier"',
  ],
  ["Page", "Page", v2ListQuerySchema, { Page: 1 }, 'write "page"'],
])("The message for the key %s names the key that is meant, at %s", async (_, path, schema, input, words) => {
  expect(await messageAt(schema, input, path)).toContain(words);
});

it("Fields of a v2 contact that are not documented are passed on, at every level", () => {
  const channels = { email: { status: "subscribed", since: 1 }, fax: subscribed };
  const identifier = { ...emailIdentifier, label: "work", channels, consent: { ...consent, by: "Bob" } };
  const contact = { ...v2Ada, score: 5, nested: { a: [1, "x", true] }, identifiers: [identifier] };
  expect(v2ContactSchema.parse(contact)).toEqual(contact);
});

describe("The schemas without the cross-field rules can be extended, picked, omitted and made partial", () => {
  const { shape: event } = v1EventFieldsSchema;
  const { shape: identifier } = v2IdentifierFieldsSchema;
  const bare = { ...v2Ada, identifiers: [{ ...emailIdentifier, channels: {} }] };
  const form = v1ContactFieldsSchema.extend({
    email: v1ListContactSchema.shape.email,
    plan: v1ContactFieldsSchema.shape.source,
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
      v1ContactFieldsSchema.pick({ email: true }),
      { ...ada, phone: "1234567", Email: "" },
      "phone unrecognized_keys",
      "Email unrecognized_keys",
    ],
    ["v1, omitted", v1ContactFieldsSchema.omit({ email: true }), ada, "email unrecognized_keys"],
    ["v1, partial", v1ListContactSchema.partial(), {}],
    ["v1, required", v1ContactFieldsSchema.required({ email: true }), {}, "email invalid_type"],
    ["event", v1EventFieldsSchema, { eventName: "e" }],
    [
      "event, extended",
      v1EventFieldsSchema.extend({ contact: event.contactUUID }),
      { eventName: "e", contact: "c" },
    ],
    ["event, picked", v1EventFieldsSchema.pick({ eventName: true }), order, "contact unrecognized_keys"],
    ["event, partial", v1EventFieldsSchema.partial(), {}],
    ["v2", v2ContactFieldsSchema, bare],
    [
      "v2, extended",
      v2ContactFieldsSchema.extend({ lastName: v2ContactFieldsSchema.shape.firstName }),
      v2Ada,
      "lastName invalid_type",
    ],
    ["v2, picked", v2ContactFieldsSchema.pick({ firstName: true }), {}, "firstName invalid_type"],
    ["v2, omitted and partial", v2ContactFieldsSchema.omit({ firstName: true }).partial(), {}],
    ["identifier", v2IdentifierFieldsSchema, { ...emailIdentifier, id: 5 }],
    [
      "identifier, extended",
      v2IdentifierFieldsSchema.extend({ label: identifier.type }),
      emailIdentifier,
      "label invalid_value",
    ],
    ["identifier, picked", v2IdentifierFieldsSchema.pick({ type: true }), {}, "type invalid_value"],
    ["identifier, omitted and partial", v2IdentifierFieldsSchema.omit({ consent: true }).partial(), {}],
  ])("%s", async (_, schema, input, ...codes) => {
    expect(await verdict(schema, input)).toEqual(codes);
  });
});
