import { AudienceClient } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import {
  v1ContactGroupListQuerySchema as groupQuery,
  v1ContactSchema as v1,
  v1EventSchema as v1Event,
  v1ListContactSchema as v1List,
  v2ContactSchema as v2,
  v2ListQuerySchema as query,
} from "audience-sdk/schemas";
import { describe, expect, it } from "vitest";
import type * as z from "zod";
import { emailIdentifier, v2Contact } from "../document/service.ts";
import { failureOf } from "../transport/failure.ts";
import { issuesOf } from "./issues.ts";

const email = "ada@example.com";
const identifier = emailIdentifier(email);
const contact = (fields: object) => ({ email, ...fields });
const properties = (custom_properties: unknown) => contact({ custom_properties });
const event = (fields: object) => ({ eventName: "order placed", contact: { email }, ...fields });
const v2With = (fields: object) => ({ ...v2Contact(), ...fields });
const identified = (fields: object) => v2With({ identifiers: [{ ...identifier, ...fields }] });

const ownKey =
  "unknown key, which the service refuses: keys of your own go under custom_properties, options of the call into its last argument; a contact is sent alone, not wrapped";
const ownEventKey =
  "unknown key, which the service refuses: what names the contact goes under contact, data of your own under eventData; an event is sent alone, not wrapped";
const ofCall = "unknown key; options of the call are its second argument";
const named = "required: contact.email, contact.contactUUID, or contactUUID";
const dateTime =
  "must be an ISO 8601 day or date-time, such as 2026-01-31 or 2026-01-31T09:30:00Z, or a valid Date";
const flat = "which the service would store as unusable text: use flattenProperties";
const optIns = "must be one of SUBSCRIBED, NON_SUBSCRIBED, UNSUBSCRIBED";
const leftOut = "leave it out to send nothing, if it is optional";

/** What the issues say: "path: message", the path in dots. */
type Case = readonly [schema: z.ZodType, input: unknown, ...messages: string[]];

/** An e-mail address of each type, and its type in words. */
const types: readonly [unknown, string][] = [
  [5, "a number"],
  [[email], "an array"],
  [new Date(0), "a Date"],
  [() => email, "a function"],
  [NaN, "NaN"],
  [10n, "a BigInt"],
  [Symbol("e"), "a symbol"],
  [{}, "an object"],
  [Promise.resolve(email), "a Promise: await it"],
  [null, `null: ${leftOut}`],
];

type Input = (fields: object) => object;
type Meant = Readonly<Record<string, string>>;
const inAnotherCase = (schema: z.ZodType, input: Input, meant: Meant): Case => [
  schema,
  input(Object.fromEntries(Object.keys(meant).map((given) => [given, "x"]))),
  ...Object.entries(meant).map(([given, name]) => `${given}: unknown key: write "${name}"`),
];

const cases: Readonly<Record<string, readonly Case[]>> = {
  "a value of another type": [
    ...types.map(([given, kind]): Case => [v1, { email: given }, `email: must be a string, not ${kind}`]),
    [v2, identified({ id: true }), "identifiers.0.id: must be a string or a number, not a boolean"],
    [v1, contact({ is_suppressed: "no" }), "is_suppressed: must be a boolean, not a string"],
    [v2, v2With({ firstName: undefined }), "firstName: required: a string"],
    [
      v2,
      // oxlint-disable-next-line no-sparse-arrays -- on purpose
      v2With({ listIds: [1, undefined, , "b"] }),
      "listIds.0: must be a string, not a number",
      "listIds.1: must be a string, not undefined",
      "listIds.2: must be a string, not undefined",
    ],
    [v2, v2With({ createdAt: 5 }), `createdAt: ${dateTime}, not a number`],
    [v2, v2With({ createdAt: new Date(NaN) }), `createdAt: ${dateTime}, not an invalid Date`],
    [query, { page: "1" }, "page: must be a number, not a string"],
    [query, { page: 0.5 }, "page: must be an integer, not 0.5"],
    [v1, properties([]), "custom_properties: must be an object, not an array"],
    [v1Event, event({ eventData: [1] }), "eventData: must be an object, not an array"],
  ],
  "an input that is no object": [
    [v1, null, ": must be an object, not null"],
    [v1, undefined, ": required: an object"],
    [v1, [{ email }], ": must be an object, not an array: each is sent alone; for many, see audience.bulk"],
    [v1, new Set(), ": JSON cannot carry a Set"],
    [v1, Promise.resolve({ email }), ": JSON cannot carry a Promise: await it"],
    [v1, new Int8Array(1), ": JSON cannot carry an Int8Array"],
    [
      v2,
      {},
      "firstName: required: a string",
      "listIds: required: an array",
      "identifiers: required: an array",
    ],
  ],
  "a value out of bounds": [
    [v1, contact({ phone: "123" }), "phone: must have at least 7 characters, has 3"],
    [v1Event, event({ eventName: "" }), "eventName: must not be empty"],
    [v2, v2With({ identifiers: [] }), "identifiers: must not be empty"],
    [query, { page: 0 }, "page: must be at least 1"],
    [query, { page: 1e300 }, "page: must be at most 9007199254740991"],
    [query, { page: -1e300 }, "page: must be at least -9007199254740991", "page: must be at least 1"],
    [
      v1,
      properties(Object.fromEntries(Array.from({ length: 31 }, (_, at) => [`k${at}`, 1]))),
      "custom_properties: must have at most 30 keys in one request, has 31",
    ],
  ],
  "a value that is not in an enum": [
    [v1, contact({ email_opt_in: "yes" }), `email_opt_in: ${optIns}`],
    [v1, contact({ email_opt_in: "subscribed" }), `email_opt_in: ${optIns}; case counts, write SUBSCRIBED`],
    ...Object.entries({
      Subscribed: "must be written subscribed: case counts",
      UNSUBSCRIBED: "must be written unsubscribed: case counts",
      NON_SUBSCRIBED:
        "must be another status, as NON_SUBSCRIBED is one of v1 alone: v2 has subscribed and unsubscribed",
    }).map(([status, message]): Case => [
      v2,
      identified({ channels: { email: { status } } }),
      `identifiers.0.channels.email.status: ${message}`,
    ]),
    [v1, contact({ gender: 5 }), "gender: must be one of MALE, FEMALE, OTHER, not a number"],
    [groupQuery, { type: "list" }, "type: must be one of LIST, SEGMENT, ALL; case counts, write LIST"],
    [v2, identified({ type: "fax" }), "identifiers.0.type: must be one of email, phone"],
    // Of a wrong type it is not known what the channels of the others need.
    [
      v2,
      v2With({
        identifiers: [
          { ...identifier, channels: {} },
          { ...identifier, type: "fax" },
        ],
      }),
      "identifiers.1.type: must be one of email, phone",
    ],
  ],
  "a string in a wrong format": [
    [
      v1,
      contact({ email: "", dob: "2026-02-30" }),
      "email: must be an e-mail address alone: one @ between two strings, without spaces, commas, semicolons, angle brackets, mailto: or quotes around it; strip a display name, and send each address by itself",
      "dob: must be a day of the calendar, as a string: YYYY-MM-DD; a Date has a time zone",
    ],
    [
      v1,
      { email: "ada\u200b@example.com" },
      "email: holds a character that does not show (U+200B), and would be another person's address: remove it",
    ],
    [
      v1,
      contact({ dob: new Date(0) }),
      "dob: must be a day of the calendar, as a string: YYYY-MM-DD; a Date has a time zone",
    ],
    [
      v2,
      v2With({ countryCode: "DEU", createdAt: "yesterday" }),
      "countryCode: must be a country code of two letters",
      `createdAt: ${dateTime}`,
    ],
    [v2, v2With({ createdAt: new Date(8.64e15) }), "createdAt: must be a Date of the years 0 to 9999"],
    [
      v2,
      identified({ consent: { createdAt: "x", ip: "1.2.3", source: "form" } }),
      "identifiers.0.consent.createdAt: must be an ISO 8601 date-time, such as 2026-01-31T09:30:00Z, or a valid Date",
      "identifiers.0.consent.ip: must be an IPv4 or IPv6 address alone",
    ],
  ],
  "an unknown field": [
    inAnotherCase(v1, contact, { firstName: "first_name", postalCode: "postal_code", Email: "email" }),
    inAnotherCase(v1, contact, { First_Name: "first_name", customProperties: "custom_properties" }),
    inAnotherCase(v1, contact, { FIRST_NAME: "first_name", address_1: "address1" }),
    [v1, contact({ citty: "A", zip: "A" }), `citty: ${ownKey}`, `zip: ${ownKey}`],
    [v1, contact({ customer: { email } }), `customer: ${ownKey}`],
    [v1Event, event({ order: {}, phone: "1" }), `order: ${ownEventKey}`, `phone: ${ownEventKey}`],
    [query, { offset: 1 }, `offset: ${ofCall}`],
  ],
  "an unknown field that was given for one that is needed": [
    [
      v1Event,
      { event_name: "x", contact: { eMail: email } },
      'eventName: required; "event_name" was given: write "eventName"',
      'event_name: unknown key: write "eventName"',
      `contact: ${named}; "eMail" was given: write "email"`,
    ],
    [
      v2,
      { first_name: "Ada", list_ids: [], identifiers: [identifier] },
      'firstName: required; "first_name" was given: write "firstName"',
      'listIds: required; "list_ids" was given: write "listIds"',
    ],
    [
      v2,
      identified({ consent: { created_at: "2026-01-31T09:30:00Z", ip: "::1", source: "x" } }),
      'identifiers.0.consent.createdAt: required; "created_at" was given: write "createdAt"',
    ],
    [v2, v2With({ firstName: 5, first_name: "Ada" }), "firstName: must be a string, not a number"],
  ],
  "free data that JSON cannot represent": [
    [
      v1,
      properties({ a: { b: 1 }, c: null, d: [1], e: NaN, f: new Date(0), g: Promise.resolve(1) }),
      `custom_properties.a: must be flat, not an object, ${flat}`,
      `custom_properties.c: must be a string or a number or a boolean, not null: ${leftOut}`,
      `custom_properties.d: must be flat, not an array, ${flat}`,
      "custom_properties.e: must be a string or a number or a boolean, not NaN",
      "custom_properties.f: must be a string, not a Date: write date.toISOString()",
      "custom_properties.g: must be a string or a number or a boolean, not a Promise: await it",
    ],
    [
      v1Event,
      event({ eventData: { a: [1, undefined], b: () => 1, c: new Map(), d: null, e: 10n, f: Infinity } }),
      "eventData.a.1: undefined in an array would become null: leave the item out",
      "eventData.b: JSON cannot carry a function",
      "eventData.c: JSON cannot carry a Map",
      "eventData.d: must not be null: leave it out to send nothing",
      "eventData.e: JSON cannot carry a BigInt",
      "eventData.f: JSON cannot carry Infinity",
    ],
    [
      v1Event,
      event({ eventData: { a: [{ toJSON: () => undefined }], b: { toJSON: () => null } } }),
      "eventData.a.0: must not be null: leave it out to send nothing",
      "eventData.b: must not be null: leave it out to send nothing",
    ],
    [
      v1Event,
      event({ eventData: new URLSearchParams("a=1") }),
      "eventData: must be an object, not a URLSearchParams",
    ],
  ],
  "rules over several fields": [
    [v1, {}, "email: required: an email or a phone"],
    [v1List, { phone: "12345678" }, "email: required: an e-mail address; a phone alone is not enough"],
    [v1List, { email: 5, phone: "12345678" }, "email: must be a string, not a number"],
    // A value of a wrong type has no other issue.
    [v1Event, event({ eventName: [] }), "eventName: must be a string, not an array"],
    [v1Event, event({ contact: { plan: "pro" } }), `contact: ${named}`],
    [v1Event, event({ contact: undefined }), `contact: ${named}`],
    [
      v1Event,
      event({ contact: { plan: "pro", Email: email } }),
      `contact: ${named}; "Email" was given: write "email"`,
    ],
    [
      v2,
      identified({ channels: { phone: { status: "subscribed" }, Email: { status: "subscribed" } } }),
      'identifiers.0.channels.email: required: the contact has no phone identifier; "Email" was given: write "email"',
    ],
    [
      v2,
      identified({ type: "phone", id: "+15550100" }),
      "identifiers.0.channels.phone: required: the contact has no email identifier",
    ],
  ],
};

describe.each(Object.entries(cases))(
  "A message about %s has the rule, the value and the remedy",
  (_, rows) => {
    it.each(
      rows.map(([schema, input, ...messages]) => ({ title: messages.join("; "), schema, input, messages })),
    )("$title", async ({ schema, input, messages }) => {
      const issues = await issuesOf(schema, input);

      expect(issues.map(({ path, message }) => `${path.join(".")}: ${message}`)).toEqual(messages);
    });
  },
);

const { customers } = new AudienceClient(createMockService().clientOptions).v1;

it("The error of a call names the first ten problems, and the number of the others", async () => {
  const extra = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`unknown_${at}`, at]));

  const error = await failureOf(customers.upsert(contact(extra)));

  expect(error.message).toContain("12 problems in the input");
  expect(error.message).toContain("and 2 more, see `issues`");
});
