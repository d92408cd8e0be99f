import { describe, expect, it } from "vitest";
import { days, emailAddresses, hiddenInAddresses, noDays, noEmailAddresses, notAlone } from "./formats.ts";
import {
  characters,
  expectNotSent,
  type FieldRow,
  type Service,
  testFields,
  testRefused,
  tooLongFor,
  untyped,
  useService,
} from "./service.ts";

const choice = { code: "invalid_value", codeOfOthers: "invalid_value" };
const optIn = {
  rule: "one of three states",
  allowed: ["SUBSCRIBED", "NON_SUBSCRIBED", "UNSUBSCRIBED"],
  forbidden: ["subscribed", "Subscribed", "YES", "", true, 1, null],
  ...choice,
};
const upTo = (max: number) => ({
  rule: `at most ${max} characters`,
  allowed: ["", "x", characters(max - 1), characters(max), characters(max, "🎈")],
  forbidden: [characters(max + 1), characters(max + 1, "🎈"), 7, true, ["x"], {}, null],
  code: "too_big",
});
const between = (min: number, max: number) => ({
  rule: `${min} to ${max} characters`,
  allowed: [
    characters(min),
    characters(min + 1),
    characters(max - 1),
    characters(max),
    characters(max, "🎈"),
  ],
  forbidden: ["", characters(min - 1), characters(min - 1, "🎈"), characters(max + 1), 12_345_678, null],
  code: tooLongFor(max),
});
const text = {
  rule: "any text",
  allowed: ["", "crm-7", characters(1_000)],
  forbidden: [7, false, {}, ["x"], null],
};
const booleans = { rule: "true or false", allowed: [true, false], forbidden: ["true", "", 0, 1, null] };

/** The table "v1 contact", row by row, without `custom_properties`, which have a separate file. */
const rows: readonly FieldRow[] = [
  {
    field: "email",
    rule: "an e-mail address",
    allowed: emailAddresses,
    forbidden: [...noEmailAddresses, 7, null],
    ofClient: [...notAlone, ...hiddenInAddresses],
    code: "invalid_format",
  },
  { field: "phone", ...between(7, 20) },
  { field: "external_id", ...text },
  { field: "first_name", ...upTo(100) },
  { field: "last_name", ...upTo(100) },
  { field: "email_opt_in", ...optIn },
  { field: "phone_opt_in", ...optIn },
  { field: "is_suppressed", ...booleans },
  { field: "double_opt_in", ...booleans },
  { field: "source", ...text },
  {
    field: "dob",
    rule: "a day of the calendar",
    allowed: days,
    forbidden: [...noDays, 18_151_210, null],
    code: "invalid_format",
  },
  {
    field: "gender",
    rule: "one of three words, case counts",
    allowed: ["MALE", "FEMALE", "OTHER"],
    forbidden: ["male", "Female", "m", "", 1, null],
    ...choice,
  },
  { field: "country", ...upTo(100) },
  { field: "state", ...upTo(100) },
  { field: "city", ...upTo(100) },
  { field: "address1", ...upTo(255) },
  { field: "address2", ...upTo(255) },
  { field: "postal_code", ...between(3, 20) },
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

  it("every field of the table can be sent at once", async () => {
    const contact = Object.fromEntries(rows.map(({ field, allowed }) => [field, allowed[0]]));
    await call(service, { ...contact, country: "IT", custom_properties: { plan: "gold" } });

    expect(service.contact("a@b")).toMatchObject({
      ...contact,
      country: "IT",
      custom_properties: { plan: "gold" },
    });
  });

  it("only the fields that are sent are written", async () => {
    await call(service, { email: "ada@example.com", email_opt_in: "SUBSCRIBED", last_name: "Lovelace" });

    expect(service.contact("ada@example.com")).toMatchObject({
      first_name: "Ada",
      last_name: "Lovelace",
      phone: "+390111111",
    });
  });

  it("a field whose value is undefined is omitted", async () => {
    await call(service, { ...base, first_name: undefined });

    expect(service.mock.requests[0]?.body).toEqual(base);
  });

  it.each([
    ["firstName", "first_name"],
    ["emailOptIn", "email_opt_in"],
    ["postalCode", "postal_code"],
    ["First_Name", "first_name"],
    ["FIRST_NAME", "first_name"],
    ["Email", "email"],
    ["customProperties", "custom_properties"],
    ["address_1", "address1"],
  ])("%s is no field; the message contains %s", async (given, meant) => {
    const error = await expectNotSent(service, call(service, { ...base, [given]: "SUBSCRIBED" }), given);

    expect(error.issues[0]?.message).toContain(meant);
  });

  testRefused(
    writing,
    base,
    ["unknown", "constructor", "id", "created", ""].map((key) => [{ [key]: "x" }, key] as const),
  );

  it("all problems are reported together", async () => {
    const contact = {
      ...base,
      phone: "1",
      gender: "male",
      dob: "2023-02-29",
      firstName: "Ada",
      custom_properties: { a: { b: 1 } },
    };

    await expectNotSent(
      service,
      call(service, contact),
      "phone too_small",
      "gender invalid_value",
      "dob invalid_format",
      "firstName unrecognized_keys",
      "custom_properties.a invalid_type",
    );
  });
});

describe("the defaults of a v1 contact", () => {
  const service = useService();

  it.each([
    ["email_opt_in", "NON_SUBSCRIBED"],
    ["phone_opt_in", "NON_SUBSCRIBED"],
    ["is_suppressed", false],
    ["double_opt_in", false],
    ["source", "api"],
  ])("%s is %j by default", async (field, value) => {
    const { attributes } = await service.audience.v1.customers.upsert({ email: "new@example.com" });

    expect(service.mock.requests[0]?.body).toEqual({ email: "new@example.com" });
    expect(service.contact("new@example.com")).toMatchObject({ [field]: value });
    expect(attributes).toMatchObject({ [field]: value });
  });

  it("all other fields are optional, and absent by default", async () => {
    await service.audience.v1.customers.upsert({ phone: "1234567" });

    const { id, created, updated, ...rest } = service.contact("1234567") ?? {};
    expect([id, created, updated]).toEqual([expect.any(String), expect.any(String), expect.any(String)]);
    expect(rest).toEqual({
      phone: "1234567",
      email_opt_in: "NON_SUBSCRIBED",
      phone_opt_in: "NON_SUBSCRIBED",
      is_suppressed: false,
      double_opt_in: false,
      source: "api",
    });
  });
});

describe("the country of a v1 contact", () => {
  const service = useService();

  it.each([
    ["Italy", "IT"],
    ["united states", "US"],
    ["USA", "US"],
    ["United Kingdom", "GB"],
    ["Côte d’Ivoire", "CI"],
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

describe("double_opt_in", () => {
  const service = useService({ variants: { doubleOptIn: "pending" } });
  const upsert = (double_opt_in?: boolean) =>
    service.audience.v1.customers.upsert({
      email: "new@example.com",
      email_opt_in: "SUBSCRIBED",
      ...(double_opt_in !== undefined && { double_opt_in }),
    });

  it.each([
    [true, "NON_SUBSCRIBED"],
    [false, "SUBSCRIBED"],
    [undefined, "SUBSCRIBED"],
  ])("%j: until a confirmation the contact counts as %s", async (doubleOptIn, state) => {
    const { attributes } = await upsert(doubleOptIn);

    expect(attributes.email_opt_in).toBe(state);
    expect(service.contact("new@example.com")).toMatchObject({
      email_opt_in: state,
      double_opt_in: doubleOptIn ?? false,
    });
  });
});
