import { AudienceClient } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import {
  v1ContactSchema,
  v1EventSchema,
  v1ListContactSchema,
  v2ContactSchema,
  v2IdentifierSchema,
} from "audience-sdk/schemas";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { inProcess, type OpenEntryPoint } from "../mock/entry-points.ts";
import { messageAt, verdict } from "./issues.ts";

let open: OpenEntryPoint;
beforeAll(async () => {
  open = await inProcess.open();
});
afterAll(() => open.close());

/** The same rows are tried at the mock, which judges by its own reading of the document. */
async function expectOfMock(end: "accepted" | "refused", path: string, body: unknown): Promise<void> {
  const { status } = await open.call(path, { body });
  expect(status < 300 ? "accepted" : status).toBe(end === "accepted" ? end : 400);
}
const V1 = "/api/v1/customer/create";
const V2 = "/v2/contacts";

const identifier = (change: object = {}) => ({
  type: "email",
  id: "ada@example.com",
  channels: { email: { status: "subscribed" } },
  consent: { createdAt: "2026-01-31T09:30:00Z", ip: "192.0.2.1", source: "form" },
  ...change,
});
const contact = (change: object) => ({
  firstName: "Ada",
  listIds: [],
  identifiers: [identifier()],
  ...change,
});
const consent = (change: object) =>
  identifier({ consent: { createdAt: "2026-01-31T09:30:00Z", ip: "192.0.2.1", source: "form", ...change } });

const days = [
  "2024-02-29",
  "2000-02-29",
  "2023-02-28",
  "1999-12-31",
  "2026-04-30",
  "0001-01-01",
  "9999-12-31",
];

describe("A day is a real calendar day, YYYY-MM-DD", () => {
  it.each(days)("%s is valid", async (day) => {
    expect(await verdict(v1ContactSchema, { email: "a@b", dob: day })).toEqual([]);
    expect(await verdict(v2ContactSchema, contact({ birthDate: day }))).toEqual([]);
    await expectOfMock("accepted", V1, { email: "a@b", dob: day });
  });
  it.each([
    "2023-02-29",
    "1900-02-29",
    "2026-02-30",
    "2026-04-31",
    "2026-13-01",
    "2026-00-10",
    "2026-01-00",
    "2026-01-32",
    "2026-1-1",
    "20260101",
    "2026/01/01",
    "01-01-2026",
    " 2026-01-01",
    "2026-01-01 ",
    "2026-01-01\n",
    "2026-01-01T00:00:00Z",
    "",
    "today",
    "+02026-01-01",
    "２０２６-01-01",
  ])("%j is invalid", async (day) => {
    expect(await verdict(v1ContactSchema, { email: "a@b", dob: day })).toEqual(["dob invalid_format"]);
    expect(await verdict(v2ContactSchema, contact({ birthDate: day }))).toEqual(["birthDate invalid_format"]);
    await expectOfMock("refused", V1, { email: "a@b", dob: day });
  });
  it("a Date is invalid, because it has a time zone", async () => {
    expect(await verdict(v1ContactSchema, { email: "a@b", dob: new Date(0) })).toEqual(["dob invalid_type"]);
    expect(await messageAt(v1ContactSchema, { email: "a@b", dob: new Date(0) }, "dob")).toContain(
      "time zone",
    );
    expect(await messageAt(v2ContactSchema, contact({ birthDate: new Date(0) }), "birthDate")).toContain(
      "time zone",
    );
  });
});

const dateTimes = [
  "2026-01-31T09:30:00Z",
  "2026-01-31T09:30:00",
  "2026-01-31T09:30",
  "2026-01-31T09:30Z",
  "2026-01-31T09:30:00.123Z",
  "2026-01-31T09:30:00.123456789+02:00",
  "2026-01-31T00:00:00-05:30",
  "2024-02-29T23:59:59Z",
  "2026-01-31T09:30+02",
  "2026-01-31T09:30-11",
  "2026-01-31T09:30:00,5",
  "2026-01-31T09:30:00,5+02",
  "2026-01-31T09:30:00+0200",
];
const notDateTimes = [
  "2026-01-31 09:30:00",
  "2026-01-31T",
  "2026-01-31T09",
  "2026-01-31T09Z",
  "2026-01-31T24:00:00Z",
  "2026-01-31T23:60:00Z",
  "2026-01-31T23:59:60Z",
  "2023-02-29T00:00:00Z",
  "2026-13-01T00:00:00Z",
  "2026-01-31T09:30:00.Z",
  "2026-01-31t09:30:00z",
  "2026-01-31T09:30:00+24:00",
  "2026-01-31T09:30:00+02:60",
  "",
  "now",
  "1700000000",
  "2026-01-31T09:30:00Z ",
  "Sat, 31 Jan 2026 09:30:00 GMT",
];

describe("A date-time is ISO 8601 with a T; seconds, their fraction and the offset may be missing", () => {
  it.each(dateTimes)("%s is valid", async (text) => {
    expect(await verdict(v2IdentifierSchema, consent({ createdAt: text }))).toEqual([]);
    expect(await verdict(v2ContactSchema, contact({ createdAt: text }))).toEqual([]);
    await expectOfMock(
      "accepted",
      V2,
      contact({ identifiers: [consent({ createdAt: text })], createdAt: text }),
    );
  });
  it.each(notDateTimes)("%j is invalid", async (text) => {
    expect(await verdict(v2IdentifierSchema, consent({ createdAt: text }))).toEqual([
      "consent.createdAt invalid_format",
    ]);
    expect(await verdict(v2ContactSchema, contact({ createdAt: text }))).toEqual([
      "createdAt invalid_format",
    ]);
    await expectOfMock("refused", V2, contact({ identifiers: [consent({ createdAt: text })] }));
    await expectOfMock("refused", V2, contact({ createdAt: text }));
  });
  it("a fraction of a million digits is invalid", async () => {
    const createdAt = `2026-01-31T09:30:00.${"1".repeat(1e6)}Z`;
    expect(await verdict(v2ContactSchema, contact({ createdAt }))).toEqual(["createdAt invalid_format"]);
    expect(await verdict(v2IdentifierSchema, consent({ createdAt }))).toEqual([
      "consent.createdAt invalid_format",
    ]);
  });
  it("a contact's createdAt may be a day, a consent's must be a date-time", async () => {
    expect(await verdict(v2ContactSchema, contact({ createdAt: "2024-02-29" }))).toEqual([]);
    expect(await verdict(v2ContactSchema, contact({ createdAt: "2023-02-29" }))).toEqual([
      "createdAt invalid_format",
    ]);
    expect(await verdict(v2IdentifierSchema, consent({ createdAt: "2024-02-29" }))).toEqual([
      "consent.createdAt invalid_format",
    ]);
    await expectOfMock("accepted", V2, contact({ createdAt: "2024-02-29" }));
    await expectOfMock("refused", V2, contact({ identifiers: [consent({ createdAt: "2024-02-29" })] }));
    for (const createdAt of ["2023-02-29", "2026-01"])
      await expectOfMock("refused", V2, contact({ createdAt }));
  });
  it("a valid Date is accepted unchanged, and an invalid Date is refused", async () => {
    const at = new Date(0);
    expect(v2IdentifierSchema.parse(consent({ createdAt: at })).consent.createdAt).toBe(at);
    expect(v2ContactSchema.parse(contact({ createdAt: at })).createdAt).toBe(at);
    expect(await verdict(v2ContactSchema, contact({ createdAt: new Date(NaN) }))).toEqual([
      "createdAt invalid_type",
    ]);
    expect(await verdict(v2IdentifierSchema, consent({ createdAt: new Date(NaN) }))).toEqual([
      "consent.createdAt invalid_type",
    ]);
  });
  it.each(["0000-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z"])("the Date %s is valid", async (text) => {
    const createdAt = new Date(text);
    expect(await verdict(v2ContactSchema, contact({ createdAt }))).toEqual([]);
    expect(await verdict(v2IdentifierSchema, consent({ createdAt }))).toEqual([]);
  });
  it.each(["+010000-01-01T00:00:00.000Z", "-000001-12-31T23:59:59.999Z", "+275760-09-13T00:00:00.000Z"])(
    "the Date %s is invalid, as is its text",
    async (text) => {
      for (const createdAt of [new Date(text), text]) {
        expect(await verdict(v2ContactSchema, contact({ createdAt }))).toEqual(["createdAt invalid_format"]);
        expect(await verdict(v2IdentifierSchema, consent({ createdAt }))).toEqual([
          "consent.createdAt invalid_format",
        ]);
      }
      expect(await messageAt(v2ContactSchema, contact({ createdAt: new Date(text) }), "createdAt")).toContain(
        "years 0 to 9999",
      );
    },
  );
  it.each([5, null, true, {}, []])("%j is invalid", async (value) => {
    expect(await verdict(v2ContactSchema, contact({ createdAt: value }))).toEqual(["createdAt invalid_type"]);
    expect(await verdict(v2IdentifierSchema, consent({ createdAt: value }))).toEqual([
      "consent.createdAt invalid_type",
    ]);
  });
});

const emailAddresses = [
  "a@b",
  "ada@example.com",
  "ada+x@sub.example.co.uk",
  "ä@ö.de",
  "o'brien@example.com",
  "'x'@y",
  '"ada@example.com',
  '"x"@example.com',
  "ada@[192.0.2.1]",
  "mailto@example.com",
  `${"a".repeat(300)}@b`,
  // A joiner between letters, as Persian, Hindi and Sinhala need it; a sign of Arabic that shows.
  "نمی\u200cخواهم@example.com",
  "क्\u200dष@උදා\u200dහරණ.example",
  "\u0600@example.com",
];

/** What the mock accepts, as the document does not forbid it: an opt-out for it would be nobody's. */
const notAlone = [
  "a@b@c",
  "a@@b",
  "Ada<ada@example.com>",
  "<ada@example.com>",
  "ada@example.com,bob@example.com",
  "ada@example.com,",
  "ada@example.com;",
  "mailto:ada@example.com",
  "MailTo:ada@example.com",
  '"ada@example.com"',
  "'ada@example.com'",
  "“ada@example.com”",
];

/** Characters that do not show: an address that holds one is another person's. */
const hidden = [
  "\u0000\u0008\u001b\u007f\u0085\u009f\u00ad\u034f\u061c\u115f\u180e\u200b\u200e\u200f\u202a\u202b\u202c",
  "\u202d\u202e\u2060\u2063\u2066\u2067\u2068\u2069\u206a\u2800\u3164\ufe0f\ufeff\ufffb\u{e0041}\ud800",
].join("");

describe("An e-mail address holds no character that does not show", () => {
  const places = [...hidden].flatMap((character) => [
    `${character}a@b`,
    `a${character}a@b`,
    `a@b${character}b`,
  ]);
  it.each([
    ...places,
    "a\u200d@b",
    "\u200ca@b",
    "1\u200d1@b",
    "a\u200d\u200ca@b",
    "\u{1f469}\u200d\u{1f4bb}@b",
  ])("%j is invalid", async (address) => {
    const event = { eventName: "e", contact: { email: address } };
    expect(await verdict(v1ContactSchema, { email: address })).toEqual(["email invalid_format"]);
    expect(await verdict(v1ListContactSchema, { email: address })).toEqual(["email invalid_format"]);
    expect(await verdict(v1EventSchema, event)).toEqual(["contact.email invalid_format"]);
    expect(await verdict(v2IdentifierSchema, identifier({ id: address }))).toEqual(["id custom"]);
    const message = await messageAt(v2IdentifierSchema, identifier({ id: address }), "id");
    expect(message).toMatch(/^holds a character that does not show \(U\+[0-9A-F]{4,6}\), and would be/);
  });

  it("sends nothing, wherever it is given", async () => {
    const mock = createMockService();
    const { v1, v2 } = new AudienceClient(mock.clientOptions);
    const email = "ada\u200b@example.com";
    const calls = [
      v1.customers.upsert({ email }),
      v1.contactGroups.addContact("mock-list", { email, email_opt_in: "UNSUBSCRIBED" }),
      v1.events.send({ eventName: "e", contact: { email } }),
      v2.contacts.upsert(contact({ identifiers: [identifier({ id: email })] }) as never),
      v1.request({ method: "POST", path: "/api/v1/new", contact: { email } }),
    ];

    for (const call of calls) await expect(call).rejects.toThrow("does not show (U+200B)");
    expect(mock.requests).toEqual([]);
  });
});

describe("An e-mail address is a string, one @ and a string, alone and without white space", () => {
  it.each(emailAddresses)("%s is valid", async (address) => {
    expect(await verdict(v1ContactSchema, { email: address })).toEqual([]);
    expect(await verdict(v2IdentifierSchema, identifier({ id: address }))).toEqual([]);
    await expectOfMock("accepted", V1, { email: address });
  });
  const noAddresses = [
    "",
    "a",
    "@",
    "a@",
    "@b",
    "a b@c",
    "a@b c",
    " a@b",
    "a@b ",
    "a@b\n",
    "a\u00a0@b",
    "\ta@b",
  ];
  it.each(notAlone)("%j is accepted by the mock", async (address) => {
    await expectOfMock("accepted", V1, { email: address });
  });
  it.each(noAddresses)("%j is refused by the mock", async (address) => {
    await expectOfMock("refused", V1, { email: address });
  });
  it.each([...noAddresses, ...notAlone])("%j is invalid", async (address) => {
    expect(await verdict(v1ContactSchema, { email: address })).toEqual(["email invalid_format"]);
    expect(await verdict(v1ListContactSchema, { email: address })).toEqual(["email invalid_format"]);
    expect(await verdict(v1EventSchema, { eventName: "e", contact: { email: address } })).toEqual([
      "contact.email invalid_format",
    ]);
    expect(await verdict(v2IdentifierSchema, identifier({ id: address }))).toEqual(["id custom"]);
    const message = await messageAt(v2IdentifierSchema, identifier({ id: address }), "id");
    expect(message).toContain("strip a display name");
    expect(await messageAt(v1ContactSchema, { email: address }, "email")).toBe(message);
  });
});

const ipAddresses = [
  "0.0.0.0",
  "255.255.255.255",
  "192.0.2.1",
  "::",
  "::1",
  "1::",
  "2001:db8::1",
  "2001:DB8::A",
  "1:2:3:4:5:6:7:8",
  "1:2:3:4:5:6:7::",
  "::2:3:4:5:6:7:8",
  "::ffff:1.2.3.4",
  "64:ff9b::192.0.2.33",
  "1:2:3:4:5:6:1.2.3.4",
  "fe80::1",
  "0000:0000:0000:0000:0000:ffff:255.255.255.255",
];

describe("consent.ip is an IPv4 or IPv6 address", () => {
  it.each(ipAddresses)("%s is valid", async (ip) => {
    expect(await verdict(v2IdentifierSchema, consent({ ip }))).toEqual([]);
    await expectOfMock("accepted", V2, contact({ identifiers: [consent({ ip })] }));
  });
  it.each([
    "",
    "1.2.3",
    "1.2.3.4.5",
    "256.1.1.1",
    "01.2.3.4",
    "1.2.3.4:80",
    "1.2.3.0/24",
    " 1.2.3.4",
    "1.2.3.4\n",
    ":",
    ":::",
    "1::2::3",
    "1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:8:9",
    "1:2:3:4:5::1:2:3:4",
    "1:2:3:4:5:6:7:8::",
    "12345::",
    "g::",
    "fe80::1%eth0",
    "[::1]",
    "::1/64",
    "::1.2.3",
    "1.2.3.4::",
    "1:2:3:4:5:6:7:192.0.2.1",
    "::1.2.3.4:5",
    "1:",
    ":1",
    "localhost",
  ])("%j is invalid", async (ip) => {
    expect(await verdict(v2IdentifierSchema, consent({ ip }))).toEqual(["consent.ip invalid_format"]);
    await expectOfMock("refused", V2, contact({ identifiers: [consent({ ip })] }));
  });
});

describe("countryCode is two letters, in any case", () => {
  it.each(["DE", "de", "Us", "ZZ"])("%s is valid", async (code) => {
    expect(await verdict(v2ContactSchema, contact({ countryCode: code }))).toEqual([]);
    await expectOfMock("accepted", V2, contact({ countryCode: code }));
  });
  it.each(["", "D", "DEU", "D1", "ÄÖ", "D ", "DE\n"])("%j is invalid", async (code) => {
    expect(await verdict(v2ContactSchema, contact({ countryCode: code }))).toEqual([
      "countryCode invalid_format",
    ]);
    await expectOfMock("refused", V2, contact({ countryCode: code }));
  });
});

describe("The JSON schema has no stricter rule than the schema itself", () => {
  const v1InJson = z.fromJSONSchema(v1ContactSchema.toJSONSchema());
  const v2InJson = z.fromJSONSchema(v2ContactSchema.toJSONSchema());

  it.each(emailAddresses)("accepts the e-mail address %s", (email) => {
    expect(v1InJson.safeParse({ email }).error).toBeUndefined();
  });
  it.each(notAlone)("and refuses what is no address alone: %s", (email) => {
    expect(v1InJson.safeParse({ email }).success).toBe(false);
  });
  it.each([...days, ...dateTimes])("accepts a contact's createdAt %s", (createdAt) => {
    expect(v2InJson.safeParse(contact({ createdAt })).error).toBeUndefined();
  });
  it.each(days)("accepts the day %s", (day) => {
    expect(v1InJson.safeParse({ email: "a@b", dob: day }).error).toBeUndefined();
    expect(v2InJson.safeParse(contact({ birthDate: day })).error).toBeUndefined();
  });
  it.each([...dateTimes.map((createdAt) => ({ createdAt })), ...ipAddresses.map((ip) => ({ ip }))])(
    "accepts the consent %j",
    (given) => {
      expect(v2InJson.safeParse(contact({ identifiers: [consent(given)] })).error).toBeUndefined();
    },
  );
  it.each([
    ["an e-mail address", v1InJson, { email: "a b@c" }],
    ["a date-time", v2InJson, contact({ createdAt: "2023-02-29T00:00:00Z" })],
    ["the time of a consent", v2InJson, contact({ identifiers: [consent({ createdAt: "2026-01-31" })] })],
    ["an IP address", v2InJson, contact({ identifiers: [consent({ ip: "localhost" })] })],
  ])("refuses %s in a wrong format", (_, schema, input) => {
    expect(schema.safeParse(input).success).toBe(false);
  });
});
