import { AudienceClient } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import {
  v1ContactGroupListQuerySchema,
  v1ContactSchema,
  v1CustomerListQuerySchema,
  v1EventSchema,
  v1ListContactSchema,
  v2ContactSchema,
  v2ListQuerySchema,
} from "audience-sdk/schemas";
import { describe, expect, it } from "vitest";
import type * as z from "zod";
import { failureOf } from "../transport/failure.ts";
import { issuesOf } from "./issues.ts";

const email = "ada@example.com";
const contact = (fields: object) => ({ email, ...fields });
const event = (fields: object) => ({ eventName: "order placed", contact: { email }, ...fields });
const identifier = {
  type: "email",
  id: email,
  channels: { email: { status: "subscribed" } },
  consent: { createdAt: "2026-01-31T09:30:00Z", ip: "192.0.2.1", source: "form" },
};
const v2Contact = (fields: object) => ({
  firstName: "Ada",
  listIds: [],
  identifiers: [identifier],
  ...fields,
});
const identified = (fields: object) => v2Contact({ identifiers: [{ ...identifier, ...fields }] });
const ownKeyHint =
  "unknown key, which the service refuses: a contact is sent alone, not wrapped; keys of your own go under custom_properties, options of the call into its second argument";
const ownEventKeyHint =
  "unknown key, which the service refuses: an event is sent alone, not wrapped; what names the contact goes under contact, data of your own under eventData";
const suggested = ([given, meant]: readonly string[]) => `${given}: unknown key: did you mean "${meant}"?`;
const named = "required: contact.email, contact.contactUUID, or contactUUID";

class Order {
  readonly #total = 12.5;
  get total() {
    return this.#total;
  }
}

type Case = readonly [what: string, schema: z.ZodType, input: unknown, ...words: string[]];

/** Each issue is "path: message", the path in dots. */
const kinds: readonly Case[] = [
  [
    "null",
    v1ContactSchema,
    { email: null },
    "email: must be a string, not null: leave it out to send nothing, if it is optional",
  ],
  ["a number", v1ContactSchema, { email: 5 }, "email: must be a string, not a number"],
  ["an array", v1ContactSchema, { email: [email] }, "email: must be a string, not an array"],
  ["a Date", v1ContactSchema, { email: new Date(0) }, "email: must be a string, not a Date"],
  ["a function", v1ContactSchema, { email: () => email }, "email: must be a string, not a function"],
  ["NaN", v1ContactSchema, { email: NaN }, "email: must be a string, not NaN"],
  ["a BigInt", v1ContactSchema, { email: 10n }, "email: must be a string, not a BigInt"],
  ["a symbol", v1ContactSchema, { email: Symbol("e") }, "email: must be a string, not a symbol"],
  [
    "a Promise",
    v1ContactSchema,
    { email: Promise.resolve(email) },
    "email: must be a string, not a Promise: await it",
  ],
  ["an object", v1ContactSchema, { email: {} }, "email: must be a string, not an object"],
  [
    "a boolean",
    v2ContactSchema,
    identified({ id: true }),
    "identifiers.0.id: must be a string or a number, not a boolean",
  ],
  [
    "a text",
    v1ContactSchema,
    contact({ is_suppressed: "no" }),
    "is_suppressed: must be a boolean, not a string",
  ],
  ["nothing", v2ContactSchema, v2Contact({ firstName: undefined }), "firstName: required: a string"],
  [
    "a text for a list",
    v2ContactSchema,
    v2Contact({ listIds: "a" }),
    "listIds: must be an array, not a string",
  ],
  [
    "items of other kinds",
    v2ContactSchema,
    v2Contact({ listIds: [1, undefined] }),
    "listIds.0: must be a string, not a number",
    "listIds.1: must be a string, not undefined",
  ],
  [
    "a number for a date-time",
    v2ContactSchema,
    v2Contact({ createdAt: 5 }),
    "createdAt: must be an ISO 8601 day or date-time, such as 2026-01-31 or 2026-01-31T09:30:00Z, or a valid Date, not a number",
  ],
  ["a text for a page", v2ListQuerySchema, { page: "1" }, "page: must be a number, not a string"],
  ["half a page", v2ListQuerySchema, { page: 0.5 }, "page: must be an integer, not 0.5"],
  [
    "a hole in a list",
    v2ContactSchema,
    // oxlint-disable-next-line no-sparse-arrays -- on purpose
    v2Contact({ listIds: ["a", , "b"] }),
    "listIds.1: must be a string, not undefined",
  ],
  [
    "a text for channels",
    v2ContactSchema,
    identified({ channels: "email" }),
    "identifiers.0.channels: must be an object, not a string",
  ],
  [
    "a list of properties",
    v1ContactSchema,
    contact({ custom_properties: [] }),
    "custom_properties: must be an object, not an array",
  ],
  [
    "a Map of properties",
    v1ContactSchema,
    contact({ custom_properties: new Map() }),
    "custom_properties: must be an object, not a Map",
  ],
  ["a list of data", v1EventSchema, event({ eventData: [1] }), "eventData: must be an object, not an array"],
];

const inputs: readonly Case[] = [
  ["null", v1ContactSchema, null, ": must be an object, not null"],
  ["nothing", v1ContactSchema, undefined, ": required: an object"],
  ["a text", v1ContactSchema, email, ": must be an object, not a string"],
  [
    "an array",
    v1ContactSchema,
    [{ email }],
    ": must be an object, not an array: each is sent alone; for many, see audience.bulk",
  ],
  ["a Set", v1ContactSchema, new Set(), ": JSON cannot carry a Set"],
  ["a Promise", v1ContactSchema, Promise.resolve({ email }), ": JSON cannot carry a Promise: await it"],
  ["bytes", v1ContactSchema, new Int8Array(1), ": JSON cannot carry an Int8Array"],
  ["shared bytes", v1ContactSchema, new SharedArrayBuffer(1), ": JSON cannot carry a SharedArrayBuffer"],
  [
    "nothing of what is needed",
    v2ContactSchema,
    {},
    "firstName: required: a string",
    "listIds: required: an array",
    "identifiers: required: an array",
  ],
];

const bounds: readonly Case[] = [
  ["too short", v1ContactSchema, contact({ phone: "123" }), "phone: must have at least 7 characters, has 3"],
  ["empty", v1EventSchema, event({ eventName: "" }), "eventName: must not be empty"],
  [
    "empty, for some",
    v1ContactSchema,
    contact({ phone: "" }),
    "phone: must have at least 7 characters, has 0",
  ],
  ["an empty list", v2ContactSchema, v2Contact({ identifiers: [] }), "identifiers: must not be empty"],
  ["a page before the first", v2ListQuerySchema, { page: 0 }, "page: must be at least 1"],
  ["a page beyond all", v2ListQuerySchema, { page: 1e300 }, "page: must be at most 9007199254740991"],
  [
    "a page before all",
    v2ListQuerySchema,
    { page: -1e300 },
    "page: must be at least -9007199254740991",
    "page: must be at least 1",
  ],
  [
    "31 properties",
    v1ContactSchema,
    contact({ custom_properties: Object.fromEntries(Array.from({ length: 31 }, (_, at) => [`k${at}`, 1])) }),
    "custom_properties: must have at most 30 keys in one request, has 31",
  ],
];

const choices: readonly Case[] = [
  [
    "none of them",
    v1ContactSchema,
    contact({ email_opt_in: "yes" }),
    "email_opt_in: must be one of SUBSCRIBED, NON_SUBSCRIBED, UNSUBSCRIBED",
  ],
  [
    "another case",
    v1ContactSchema,
    contact({ email_opt_in: "subscribed" }),
    "email_opt_in: must be one of SUBSCRIBED, NON_SUBSCRIBED, UNSUBSCRIBED; case counts, write SUBSCRIBED",
  ],
  ...[
    ["Subscribed", "must be written subscribed: case counts"],
    ["UNSUBSCRIBED", "must be written unsubscribed: case counts"],
    ...["NON_SUBSCRIBED", "non_subscribed"].map((status) => [
      status,
      `must be another status, as ${status} is one of v1 alone: v2 has subscribed and unsubscribed`,
    ]),
  ].map(([status, message]): Case => [
    `the status ${status} of a v2 channel`,
    v2ContactSchema,
    identified({ channels: { email: { status } } }),
    `identifiers.0.channels.email.status: ${message}`,
  ]),
  [
    "another kind",
    v1ContactSchema,
    contact({ gender: 5 }),
    "gender: must be one of MALE, FEMALE, OTHER, not a number",
  ],
  [
    "a list's type",
    v1ContactGroupListQuerySchema,
    { type: "list" },
    "type: must be one of LIST, SEGMENT, ALL; case counts, write LIST",
  ],
  [
    "an identifier's type",
    v2ContactSchema,
    identified({ type: "fax" }),
    "identifiers.0.type: must be one of email, phone",
  ],
  [
    "the type of one identifier, of which it hangs what the channels of the other need",
    v2ContactSchema,
    v2Contact({
      identifiers: [
        { ...identifier, channels: {} },
        { ...identifier, type: "fax" },
      ],
    }),
    "identifiers.1.type: must be one of email, phone",
  ],
];

const formats: readonly Case[] = [
  [
    "an e-mail address",
    v1ContactSchema,
    { email: "" },
    "email: must be an e-mail address alone: one @ between two strings, without spaces, commas, semicolons, angle brackets, mailto: or quotes around it; strip a display name, and send each address by itself",
  ],
  [
    "a day",
    v1ContactSchema,
    contact({ dob: "2026-02-30" }),
    "dob: must be a day of the calendar, as a string: YYYY-MM-DD; a Date has a time zone",
  ],
  [
    "a country code",
    v2ContactSchema,
    v2Contact({ countryCode: "DEU" }),
    "countryCode: must be a country code of two letters",
  ],
  [
    "a day or date-time",
    v2ContactSchema,
    v2Contact({ createdAt: "yesterday" }),
    "createdAt: must be an ISO 8601 day or date-time, such as 2026-01-31 or 2026-01-31T09:30:00Z, or a valid Date",
  ],
  [
    "an invalid Date",
    v2ContactSchema,
    v2Contact({ createdAt: new Date(NaN) }),
    "createdAt: must be an ISO 8601 day or date-time, such as 2026-01-31 or 2026-01-31T09:30:00Z, or a valid Date, not an invalid Date",
  ],
  [
    "consent",
    v2ContactSchema,
    identified({ consent: { createdAt: "x", ip: "1.2.3", source: "form" } }),
    "identifiers.0.consent.createdAt: must be an ISO 8601 date-time, such as 2026-01-31T09:30:00Z, or a valid Date",
    "identifiers.0.consent.ip: must be an IPv4 or IPv6 address alone",
  ],
];

const unknown: readonly Case[] = [
  [
    "in another case",
    v1ContactSchema,
    contact({ firstName: "A" }),
    'firstName: unknown key: write "first_name"',
  ],
  [
    "with a slip, of each kind",
    v1ContactSchema,
    contact({ soorce: "A", citty: "A", gnder: "MALE", satte: "A" }),
    ...[
      ["soorce", "source"],
      ["citty", "city"],
      ["gnder", "gender"],
      ["satte", "state"],
    ].map(suggested),
  ],
  [
    "of another service",
    v1ContactSchema,
    contact({
      zip: "1",
      birthday: "x",
      birth_date: "x",
      phone_number: "1",
      emailAddress: "x",
      mergeFields: {},
      lname: "x",
    }),
    ...[
      ["zip", "postal_code"],
      ["birthday", "dob"],
      ["birth_date", "dob"],
      ["phone_number", "phone"],
      ["emailAddress", "email"],
      ["mergeFields", "custom_properties"],
      ["lname", "last_name"],
    ].map(suggested),
  ],
  ["that is a part of it", v1ContactSchema, contact({ address: "A" }), suggested(["address", "address1"])],
  ["that is too short for a slip", v1ContactSchema, contact({ dop: "A" }), `dop: ${ownKeyHint}`],
  ["with two slips", v1ContactSchema, contact({ soorxe: "A" }), `soorxe: ${ownKeyHint}`],
  [
    "with a slip, of an event",
    v1EventSchema,
    { name: "x", contact: { emial: email }, properties: {}, idempotencyKey: "x" },
    'eventName: required; "name" was given: write "eventName"',
    ...[
      ["name", "eventName"],
      ["properties", "eventData"],
      ["idempotencyKey", "uniqueIdentifier"],
    ].map(suggested),
    `contact: ${named}; "emial" was given: write "email"`,
  ],
  ["of a page's size", v2ListQuerySchema, { perPage: 1 }, suggested(["perPage", "limit"])],
  [
    "that was given for one that is needed, as another service calls it",
    v2ContactSchema,
    { firstName: "Ada", lists: [], identifiers: [identifier] },
    'listIds: required; "lists" was given: write "listIds"',
  ],
  [
    "that was given for one that is needed",
    v2ContactSchema,
    { first_name: "Ada", listIds: [], identifiers: [identifier] },
    'firstName: required; "first_name" was given: write "firstName"',
  ],
  [
    "that was given for one that is needed, deeper in the input",
    v2ContactSchema,
    identified({ consent: { created_at: "2026-01-31T09:30:00Z", ip: "::1", source: "x" } }),
    'identifiers.0.consent.createdAt: required; "created_at" was given: write "createdAt"',
  ],
  [
    "beside the one that is meant",
    v2ContactSchema,
    v2Contact({ firstName: 5, first_name: "Ada" }),
    "firstName: must be a string, not a number",
  ],
  ["that wraps the contact", v1ContactSchema, contact({ customer: { email } }), `customer: ${ownKeyHint}`],
  [
    "of a wrapper's name, but no wrapper",
    v1ContactSchema,
    contact({ customer: "yes" }),
    `customer: ${ownKeyHint}`,
  ],
  ["that wraps the event", v1EventSchema, event({ order: {} }), `order: ${ownEventKeyHint}`],
  ["of an event", v1EventSchema, event({ total: {} }), `total: ${ownEventKeyHint}`],
  ["that is of an event's contact", v1EventSchema, event({ phone: "1" }), `phone: ${ownEventKeyHint}`],
  [
    "that is an option of the call",
    v1CustomerListQuerySchema,
    { readAhead: 2 },
    "readAhead: unknown key; options of the call are its second argument",
  ],
  [
    "of a query",
    v2ListQuerySchema,
    { offset: 1 },
    "offset: unknown key; options of the call are its second argument",
  ],
];

const freeData: readonly Case[] = [
  [
    "in custom properties",
    v1ContactSchema,
    contact({ custom_properties: { a: { b: 1 }, c: null, d: [1], e: NaN } }),
    "custom_properties.a: must be flat, not an object, which the service would store as unusable text: use flattenProperties",
    "custom_properties.c: must be a string or a number or a boolean, not null: leave it out to send nothing, if it is optional",
    "custom_properties.d: must be flat, not an array, which the service would store as unusable text: use flattenProperties",
    "custom_properties.e: must be a string or a number or a boolean, not NaN",
  ],
  [
    "in custom properties, by a Date and a Promise",
    v1ContactSchema,
    contact({ custom_properties: { a: new Date(0), b: Promise.resolve(1) } }),
    "custom_properties.a: must be a string, not a Date: write date.toISOString()",
    "custom_properties.b: must be a string or a number or a boolean, not a Promise: await it",
  ],
  [
    "in an event's data",
    v1EventSchema,
    event({ eventData: { a: [1, undefined], b: () => 1, c: new Map(), d: null, e: 10n, f: Infinity } }),
    "eventData.a.1: undefined in an array would become null: leave the item out",
    "eventData.b: JSON cannot carry a function",
    "eventData.c: JSON cannot carry a Map",
    "eventData.d: must not be null: leave it out to send nothing",
    "eventData.e: JSON cannot carry a BigInt",
    "eventData.f: JSON cannot carry Infinity",
  ],
  [
    "by what its toJSON gives",
    v1EventSchema,
    event({ eventData: { a: { toJSON: () => undefined }, b: { toJSON: () => null } } }),
    "eventData.a: its toJSON gives nothing",
    "eventData.b: must not be null: leave it out to send nothing",
  ],
  [
    "of a class that shows nothing",
    v1EventSchema,
    event({ eventData: new Order() }),
    "eventData: must be an object, not an instance of a class without properties",
  ],
  [
    "of a kind that shows nothing",
    v1EventSchema,
    event({ eventData: new URLSearchParams("a=1") }),
    "eventData: must be an object, not a URLSearchParams",
  ],
];

const across: readonly Case[] = [
  ["neither email nor phone", v1ContactSchema, {}, "email: required: an email or a phone"],
  [
    "a phone alone",
    v1ListContactSchema,
    { phone: "12345678" },
    "email: required: an e-mail address; a phone alone is not enough",
  ],
  [
    "an e-mail of another kind",
    v1ListContactSchema,
    { email: 5, phone: "12345678" },
    "email: must be a string, not a number",
  ],
  ["an event of nobody", v1EventSchema, event({ contact: { plan: "pro" } }), `contact: ${named}`],
  ["an event without a contact", v1EventSchema, event({ contact: undefined }), `contact: ${named}`],
  [
    "an event whose contact is named in another case",
    v1EventSchema,
    event({ contact: { plan: "pro", Email: email } }),
    `contact: ${named}; "Email" was given: write "email"`,
  ],
  [
    "an identifier without its channel",
    v2ContactSchema,
    identified({ channels: { phone: { status: "subscribed" } } }),
    "identifiers.0.channels.email: required: the contact has no phone identifier",
  ],
  [
    "a phone identifier without its channel",
    v2ContactSchema,
    identified({ type: "phone", id: "+15550100", channels: { email: { status: "subscribed" } } }),
    "identifiers.0.channels.phone: required: the contact has no email identifier",
  ],
];

describe("An issue names the rule, the received value, and the remedy", () => {
  describe.each([
    ["a value of another type", kinds],
    ["an input that is no object", inputs],
    ["a value out of bounds", bounds],
    ["a value that is not in an enum", choices],
    ["a string in a wrong format", formats],
    ["an unknown field", unknown],
    ["free data that JSON cannot represent", freeData],
    ["rules over several fields", across],
  ])("%s", (_, cases) => {
    it.each(cases.map(([title, schema, input, ...messages]) => ({ title, schema, input, messages })))(
      "$title",
      async ({ schema, input, messages }) => {
        const issues = await issuesOf(schema, input);

        expect(issues.map(({ path, message }) => `${path.join(".")}: ${message}`)).toEqual(messages);
      },
    );
  });
});

describe("The error of a call", () => {
  const { customers } = new AudienceClient(createMockService().clientOptions).v1;

  it("names the first ten problems, and the number of the others", async () => {
    const extra = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`unknown_${at}`, at]));

    const error = await failureOf(customers.upsert({ email: "ada@example.com", ...extra }));

    expect(error.message).toContain("12 problems in the input");
    expect(error.message).toContain("and 2 more, see `issues`");
  });

  it("says that an input whose toJSON throws cannot be read", async () => {
    const broken = {
      email: "ada@example.com",
      toJSON: () => {
        throw new Error("broken");
      },
    };

    const error = await failureOf(customers.upsert(broken));

    expect(error.message).toContain("cannot be read: a getter or a toJSON throws");
  });
});
