import { describe, expect, it } from "vitest";
import {
  anyStringField,
  booleanField,
  boundedString,
  day,
  enumField,
} from "../properties/payloads/fields.ts";
import { emailAddresses, hiddenInAddresses, notAlone } from "./formats.ts";
import { type FieldRow, type Service, testFields, testRefused, untyped, useService } from "./service.ts";

const choice = (rule: string, ...allowed: string[]) => ({
  rule,
  ...enumField(...allowed),
  code: () => "invalid_value",
});
const optIn = choice("one of three states", "SUBSCRIBED", "NON_SUBSCRIBED", "UNSUBSCRIBED");
const lengths = (min: number, max: number) => ({
  rule: `${min} to ${max} characters`,
  ...boundedString({ min, max }),
  code: (value: unknown) => {
    if (typeof value !== "string") return "invalid_type";
    return [...value].length > max ? "too_big" : "too_small";
  },
});
const text = { rule: "any text", ...anyStringField() };
const booleans = { rule: "true or false", ...booleanField };

/** The table "v1 contact", row by row, without `custom_properties`, which have a separate file. */
const rows: readonly FieldRow[] = [
  {
    field: "email",
    rule: "an e-mail address",
    ...emailAddresses,
    ofClient: [...notAlone, ...hiddenInAddresses],
    code: "invalid_format",
  },
  { field: "phone", ...lengths(7, 20) },
  { field: "external_id", ...text },
  { field: "first_name", ...lengths(0, 100) },
  { field: "last_name", ...lengths(0, 100) },
  { field: "email_opt_in", ...optIn },
  { field: "phone_opt_in", ...optIn },
  { field: "is_suppressed", ...booleans },
  { field: "double_opt_in", ...booleans },
  { field: "source", ...text },
  { field: "dob", rule: "a day of the calendar", ...day, code: "invalid_format" },
  { field: "gender", ...choice("one of three words, case counts", "MALE", "FEMALE", "OTHER") },
  { field: "country", ...lengths(0, 100) },
  { field: "state", ...lengths(0, 100) },
  { field: "city", ...lengths(0, 100) },
  { field: "address1", ...lengths(0, 255) },
  { field: "address2", ...lengths(0, 255) },
  { field: "postal_code", ...lengths(3, 20) },
];

/** The two calls that write a v1 contact. */
const writes = [
  [
    "customers.upsert",
    "/api/v1/customer/create",
    ({ audience }: Service, contact: unknown) => audience.v1.customers.upsert(untyped(contact)),
  ],
  [
    "contactGroups.addContact",
    "/api/v1/contact-groups/news/contacts",
    ({ audience }: Service, contact: unknown) =>
      audience.v1.contactGroups.addContact("news", untyped(contact)),
  ],
] as const;

describe.each(writes)("a v1 contact, written by %s", (_name, path, call) => {
  const service = useService();
  const base = { email: "new@example.com", email_opt_in: "SUBSCRIBED" };

  const writing = { service, path, call: (contact: unknown) => call(service, contact) };
  testFields(writing, rows, (field, value) => ({ ...base, [field]: value }), {
    expectStored({ field }, value) {
      // The service converts a country, which has tests below.
      const email = field === "email" ? String(value) : base.email;
      if (field !== "country") expect(service.contact(email)).toMatchObject({ [field]: value });
    },
  });

  it("only the fields that are sent are written", async () => {
    await call(service, { email: "ada@example.com", email_opt_in: "SUBSCRIBED", last_name: "Lovelace" });

    expect(service.contact("ada@example.com")).toMatchObject({
      first_name: "Ada",
      last_name: "Lovelace",
      phone: "+390111111",
    });
  });

  const many = { phone: "1", gender: "male", dob: "2023-02-29", firstName: "Ada" };
  testRefused(writing, base, [
    ...["unknown", "constructor", "id", "created", ""].map((key) => [{ [key]: "x" }, key] as const),
    // All problems are reported together.
    [{ ...many, custom_properties: { a: { b: 1 } } }, ...Object.keys(many), "custom_properties.a"],
  ]);
});

describe("the fields of a v1 contact that are not sent", () => {
  const service = useService();

  it.each([{ email: "new@example.com" }, { phone: "1234567" }])(
    "have their defaults, or are absent: %j",
    async (sent) => {
      const { attributes } = await service.audience.v1.customers.upsert(sent);

      expect(service.mock.requests[0]?.body).toEqual(sent);
      const { id, created, updated, ...rest } = service.state().contacts.at(-1) ?? {};
      expect([id, created, updated]).toEqual([expect.any(String), expect.any(String), expect.any(String)]);
      expect(rest).toEqual({
        ...sent,
        email_opt_in: "NON_SUBSCRIBED",
        phone_opt_in: "NON_SUBSCRIBED",
        is_suppressed: false,
        double_opt_in: false,
        source: "api",
      });
      expect(attributes).toMatchObject(rest);
    },
  );
});

describe("the country of a v1 contact", () => {
  const service = useService();

  it.each([
    ["Italy", "IT"],
    ["united states", "US"],
    ["USA", "US"],
    ["United Kingdom", "GB"],
    ["Côte d’Ivoire", "CI"],
    ["Cote d'Ivoire", "CI"],
    ["Bosnia and Herzegovina", "BA"],
    ["Saint Lucia", "LC"],
    ["Russian Federation", "RU"],
    ["de", "DE"],
    ["GB", "GB"],
  ])("%s is sent unchanged, and stored as the code %s", async (country, code) => {
    const { attributes } = await service.audience.v1.customers.upsert({ email: "new@example.com", country });

    expect(service.mock.requests[0]?.body).toMatchObject({ country });
    expect(service.contact("new@example.com")?.country).toBe(code);
    expect(attributes.country).toBe(code);
  });

  it("a string that names no country is stored unchanged", async () => {
    await service.audience.v1.customers.upsert({ email: "new@example.com", country: "Atlantis" });

    expect(service.contact("new@example.com")?.country).toBe("Atlantis");
  });
});
