import {
  v2ContactFieldsSchema,
  v2ContactSchema,
  v2IdentifierFieldsSchema,
  v2IdentifierSchema,
} from "audience-sdk/schemas";
import { describe, expect, test } from "vitest";
import { issuesOf, messageAt, verdict } from "./issues.ts";

const consent = { createdAt: "2026-01-31T09:30:00Z", ip: "192.0.2.1", source: "form" };
const subscribed = { status: "subscribed" };
const emailIdentifier = { type: "email", id: "ada@example.com", channels: { email: subscribed }, consent };
const phoneIdentifier = { type: "phone", id: "+49123", channels: { phone: subscribed }, consent };
const ada = { firstName: "Ada", listIds: ["l1"], identifiers: [emailIdentifier] };
const without = (object: object, key: string) =>
  Object.fromEntries(Object.entries(object).filter(([k]) => k !== key));

describe("A v2 contact", () => {
  test("is accepted with an e-mail identifier, with a phone identifier, and with both", () => {
    expect(verdict(v2ContactSchema, ada)).toEqual([]);
    expect(verdict(v2ContactSchema, { ...ada, identifiers: [phoneIdentifier] })).toEqual([]);
    expect(verdict(v2ContactSchema, { ...ada, identifiers: [emailIdentifier, phoneIdentifier] })).toEqual([]);
  });

  test.each(["firstName", "listIds", "identifiers"])("needs %s", (field) => {
    expect(verdict(v2ContactSchema, without(ada, field))).toEqual([`${field} invalid_type`]);
    expect(messageAt(v2ContactSchema, without(ada, field), field)).toMatch(/^required/);
  });

  const texts = [
    "firstName",
    "lastName",
    "birthDate",
    "city",
    "countryCode",
    "country",
    "provinceCode",
    "state",
  ];
  test.each([...texts, "postalCode", "gender"])(
    "%s is a string, and no number, boolean, object, array or null",
    (field) => {
      for (const value of [5, true, {}, [], null, NaN]) {
        expect(verdict(v2ContactSchema, { ...ada, [field]: value })).toEqual([`${field} invalid_type`]);
      }
    },
  );
  test.each(["firstName", "lastName", "city", "country", "provinceCode", "state", "postalCode", "gender"])(
    "%s has no length limit, and may be empty",
    (field) => {
      expect(verdict(v2ContactSchema, { ...ada, [field]: "" })).toEqual([]);
      expect(verdict(v2ContactSchema, { ...ada, [field]: "x".repeat(10_000) })).toEqual([]);
    },
  );

  test("triggerWelcomeEmail is true or false", () => {
    expect(verdict(v2ContactSchema, { ...ada, triggerWelcomeEmail: true })).toEqual([]);
    expect(verdict(v2ContactSchema, { ...ada, triggerWelcomeEmail: "true" })).toEqual([
      "triggerWelcomeEmail invalid_type",
    ]);
  });

  test("listIds contains strings, and may be empty", () => {
    const many = Array.from({ length: 1_001 }, (_, at) => `list-${at}`);
    expect(verdict(v2ContactSchema, { ...ada, listIds: many })).toEqual([]);
    expect(verdict(v2ContactSchema, { ...ada, listIds: [] })).toEqual([]);
    expect(verdict(v2ContactSchema, { ...ada, listIds: "l1" })).toEqual(["listIds invalid_type"]);
    expect(verdict(v2ContactSchema, { ...ada, listIds: ["a", 5, null, undefined] })).toEqual([
      "listIds.1 invalid_type",
      "listIds.2 invalid_type",
      "listIds.3 invalid_type",
    ]);
    expect(issuesOf(v2ContactSchema, { ...ada, listIds: ["a", 5] })[0]?.path).toEqual(["listIds", 1]);
  });

  test("identifiers contains at least one", () => {
    expect(verdict(v2ContactSchema, { ...ada, identifiers: [] })).toEqual(["identifiers too_small"]);
    expect(messageAt(v2ContactSchema, { ...ada, identifiers: [] }, "identifiers")).toContain(
      "must not be empty",
    );
    expect(verdict(v2ContactSchema, { ...ada, identifiers: "email" })).toEqual(["identifiers invalid_type"]);
    expect(verdict(v2ContactSchema, { ...ada, identifiers: emailIdentifier })).toEqual([
      "identifiers invalid_type",
    ]);
  });

  test("fields that are not documented are passed on, at every level", () => {
    const channels = { email: { status: "subscribed", since: 1 }, fax: subscribed };
    const identifier = { ...emailIdentifier, label: "work", channels, consent: { ...consent, by: "Bob" } };
    const contact = { ...ada, score: 5, nested: { a: [1, "x", true] }, identifiers: [identifier] };
    expect(v2ContactSchema.parse(contact)).toEqual(contact);
  });

  test("an undocumented field whose value is undefined is omitted", () => {
    expect(verdict(v2ContactSchema, { ...ada, score: undefined })).toEqual([]);
  });

  test("a value that JSON cannot represent is not passed on", () => {
    expect(verdict(v2ContactSchema, { ...ada, score: null, size: NaN, map: new Map() })).toEqual([
      "score custom",
      "size custom",
      "map custom",
    ]);
    const identifier = { ...emailIdentifier, label: null };
    expect(verdict(v2ContactSchema, { ...ada, identifiers: [identifier] })).toEqual([
      "identifiers.0.label custom",
    ]);
  });

  test.each([
    ["first_name", "firstName"],
    ["FirstName", "firstName"],
    ["list_ids", "listIds"],
    ["Identifiers", "identifiers"],
  ])("the message names %s in place of the required %s", (given, field) => {
    const contact = { ...without(ada, field), [given]: Reflect.get(ada, field) };
    expect(verdict(v2ContactSchema, contact)).toEqual([`${field} invalid_type`]);
    expect(messageAt(v2ContactSchema, contact, field)).toBe(
      `required; "${given}" was given: write "${field}"`,
    );
  });

  test("an optional field in the wrong case is an unknown field, and is passed on", () => {
    expect(verdict(v2ContactSchema, { ...ada, last_name: "Lovelace" })).toEqual([]);
  });
});

describe("A v2 identifier", () => {
  test.each([
    ["type", "invalid_value"],
    ["id", "invalid_type"],
    ["channels", "invalid_type"],
    ["consent", "invalid_type"],
  ])("needs %s", (field, code) => {
    expect(verdict(v2IdentifierSchema, without(emailIdentifier, field))).toEqual([`${field} ${code}`]);
    expect(messageAt(v2IdentifierSchema, without(emailIdentifier, field), field)).toMatch(/^required/);
  });

  test("in the wrong case is refused with the right name", () => {
    const { type, ...rest } = emailIdentifier;
    expect(messageAt(v2IdentifierSchema, { ...rest, Type: type }, "type")).toContain('"Type" was given');
    const given = {
      ...emailIdentifier,
      consent: { created_at: "2026-01-31T09:30:00Z", ip: "::1", source: "x" },
    };
    expect(messageAt(v2IdentifierSchema, given, "consent.createdAt")).toContain('"created_at" was given');
  });

  test("type is email or phone; case counts", () => {
    expect(verdict(v2IdentifierSchema, { ...emailIdentifier, type: "Email" })).toEqual([
      "type invalid_value",
    ]);
    expect(messageAt(v2IdentifierSchema, { ...emailIdentifier, type: "Email" }, "type")).toContain(
      "write email",
    );
    expect(verdict(v2IdentifierSchema, { ...emailIdentifier, type: "fax" })).toEqual(["type invalid_value"]);
  });

  test("the id of a phone is a string or a finite number, of any length", () => {
    for (const id of ["1", "+49 123", "x".repeat(1000), 4912345678, 0]) {
      expect(verdict(v2IdentifierSchema, { ...phoneIdentifier, id })).toEqual([]);
    }
    for (const id of [NaN, Infinity, true, {}, [], null, 5n]) {
      expect(verdict(v2IdentifierSchema, { ...phoneIdentifier, id })).toEqual(["id invalid_type"]);
      expect(messageAt(v2IdentifierSchema, { ...phoneIdentifier, id }, "id")).toContain(
        "a string or a number",
      );
    }
  });

  test("the id of an email is an e-mail address as a string", () => {
    expect(verdict(v2IdentifierSchema, { ...emailIdentifier, id: 5 })).toEqual(["id custom"]);
    expect(verdict(v2IdentifierSchema, { ...emailIdentifier, id: "ada" })).toEqual(["id custom"]);
    expect(verdict(v2IdentifierSchema, { ...emailIdentifier, id: null })).toEqual(["id invalid_type"]);
  });

  test("a channel's status is any string, and is required in each channel", () => {
    expect(
      verdict(v2IdentifierSchema, { ...emailIdentifier, channels: { email: { status: "whatever" } } }),
    ).toEqual([]);
    expect(verdict(v2IdentifierSchema, { ...emailIdentifier, channels: { email: {} } })).toEqual([
      "channels.email.status invalid_type",
    ]);
    expect(verdict(v2IdentifierSchema, { ...emailIdentifier, channels: { email: "subscribed" } })).toEqual([
      "channels.email invalid_type",
    ]);
  });

  test.each([
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
  ])("a channel's status is no known one in another case, and no word of v1: %s", (status, message) => {
    const { channels: _, ...rest } = emailIdentifier;
    for (const channel of ["email", "phone"]) {
      const given = { ...rest, channels: { email: { status: "subscribed" }, [channel]: { status } } };
      const path = `channels.${channel}.status`;
      expect(verdict(v2IdentifierSchema, given)).toEqual([`${path} invalid_value`]);
      expect(messageAt(v2IdentifierSchema, given, path)).toBe(message);
    }
  });

  test.each(["", "pending", "un-subscribed", "subscribed ", "resubscribed"])(
    "a channel's status may be another word: %j",
    (status) => {
      const given = { ...emailIdentifier, channels: { email: { status } } };
      expect(verdict(v2IdentifierSchema, given)).toEqual([]);
    },
  );

  test.each(["createdAt", "ip", "source"])("consent needs %s", (field) => {
    const given = { ...emailIdentifier, consent: without(consent, field) };
    expect(verdict(v2IdentifierSchema, given)).toEqual([`consent.${field} invalid_type`]);
  });
});

const channelsOf = (identifiers: object[]) => verdict(v2ContactSchema, { ...ada, identifiers });

describe("The channel rule holds for each identifier", () => {
  test("without a phone identifier, email is required", () => {
    const bare = { ...emailIdentifier, channels: {} };
    expect(channelsOf([bare])).toEqual(["identifiers.0.channels.email custom"]);
    expect(channelsOf([emailIdentifier, bare])).toEqual(["identifiers.1.channels.email custom"]);
    expect(channelsOf([{ ...emailIdentifier, channels: { phone: subscribed } }])).toEqual([
      "identifiers.0.channels.email custom",
    ]);
  });

  test("without an e-mail identifier, phone is required", () => {
    const bare = { ...phoneIdentifier, channels: {} };
    expect(channelsOf([bare])).toEqual(["identifiers.0.channels.phone custom"]);
    expect(channelsOf([bare, bare])).toEqual([
      "identifiers.0.channels.phone custom",
      "identifiers.1.channels.phone custom",
    ]);
  });

  test("with identifiers of both types, none is required", () => {
    expect(
      channelsOf([
        { ...emailIdentifier, channels: {} },
        { ...phoneIdentifier, channels: {} },
      ]),
    ).toEqual([]);
  });

  test("is reported together with all other problems, each with its path", () => {
    const contact = { identifiers: [{ ...emailIdentifier, channels: {}, consent: { ...consent, ip: "x" } }] };
    expect(verdict(v2ContactSchema, contact).toSorted()).toEqual([
      "firstName invalid_type",
      "identifiers.0.channels.email custom",
      "identifiers.0.consent.ip invalid_format",
      "listIds invalid_type",
    ]);
    expect(issuesOf(v2ContactSchema, contact).map(({ path }) => path)).toContainEqual([
      "identifiers",
      0,
      "channels",
      "email",
    ]);
  });
});

test("The fields without the rule can be extended, picked and made partial", () => {
  const bare = { ...ada, identifiers: [{ ...emailIdentifier, channels: {} }] };
  expect(verdict(v2ContactFieldsSchema, bare)).toEqual([]);
  expect(
    verdict(v2ContactFieldsSchema.extend({ lastName: v2ContactFieldsSchema.shape.firstName }), ada),
  ).toEqual(["lastName invalid_type"]);
  expect(verdict(v2ContactFieldsSchema.pick({ firstName: true }), {})).toEqual(["firstName invalid_type"]);
  expect(verdict(v2ContactFieldsSchema.omit({ firstName: true }).partial(), {})).toEqual([]);
});

test("The fields of an identifier without the rule on its id can be extended, picked and made partial", () => {
  const { shape } = v2IdentifierFieldsSchema;
  expect(verdict(v2IdentifierSchema, { ...emailIdentifier, id: 5 })).toEqual(["id custom"]);
  expect(verdict(v2IdentifierFieldsSchema, { ...emailIdentifier, id: 5 })).toEqual([]);
  expect(verdict(v2IdentifierFieldsSchema.extend({ label: shape.type }), emailIdentifier)).toEqual([
    "label invalid_value",
  ]);
  expect(verdict(v2IdentifierFieldsSchema.pick({ type: true }), {})).toEqual(["type invalid_value"]);
  expect(verdict(v2IdentifierFieldsSchema.omit({ consent: true }).partial(), {})).toEqual([]);
});
