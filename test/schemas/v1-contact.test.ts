import {
  flattenProperties,
  v1ContactFieldsSchema,
  v1ContactSchema,
  v1ListContactSchema,
} from "audience-sdk/schemas";
import { describe, expect, test } from "vitest";
import { v1ConsentedListContactSchema } from "../../src/v1/schemas/contact.ts";
import { issuesOf, messageAt, verdict } from "./issues.ts";

const ada = { email: "ada@example.com" };
const withField = (name: string, value: unknown) => ({ ...ada, [name]: value });
const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, "v"]));

describe("A v1 contact", () => {
  test.each([
    ["an email without a phone", { email: "ada@example.com" }],
    ["a phone without an email", { phone: "1234567" }],
    ["both", { email: "ada@example.com", phone: "1234567" }],
  ])("%s", (_, contact) => {
    expect(verdict(v1ContactSchema, contact)).toEqual([]);
  });

  test("needs an email or a phone, and reports it at email", () => {
    expect(verdict(v1ContactSchema, { first_name: "Ada" })).toEqual(["email custom"]);
    expect(verdict(v1ContactSchema, { email: undefined, phone: undefined })).toEqual(["email custom"]);
    expect(messageAt(v1ContactSchema, {}, "email")).toContain("an email or a phone");
  });

  const bounds: [field: string, min: number, max: number][] = [
    ["phone", 7, 20],
    ["first_name", 0, 100],
    ["last_name", 0, 100],
    ["country", 0, 100],
    ["state", 0, 100],
    ["city", 0, 100],
    ["address1", 0, 255],
    ["address2", 0, 255],
    ["postal_code", 3, 20],
  ];
  describe.each(bounds)("%s has %i to %i characters", (field, min, max) => {
    test.each([
      ["the shortest is accepted", "x".repeat(min), []],
      ["the longest is accepted", "x".repeat(max), []],
      ["one more is too big", "x".repeat(max + 1), [`${field} too_big`]],
      ["characters are code points: emojis up to the bound are accepted", "🚀".repeat(max), []],
      ["one emoji more is too big", "🚀".repeat(max + 1), [`${field} too_big`]],
      ["one more character of one code unit is too big", "\uffff".repeat(max + 1), [`${field} too_big`]],
    ])("%s", (_, value, expected) => {
      expect(verdict(v1ContactSchema, withField(field, value))).toEqual(expected);
    });
    test("the message names the bound and the length", () => {
      expect(messageAt(v1ContactSchema, withField(field, "🚀".repeat(max + 1)), field)).toBe(
        `must have at most ${max} characters, has ${max + 1}`,
      );
    });
  });

  test.each([
    ["phone", 7],
    ["postal_code", 3],
  ])("%s with fewer than %i characters is too small, however many code units it has", (field, min) => {
    expect(verdict(v1ContactSchema, withField(field, "x".repeat(min - 1)))).toEqual([`${field} too_small`]);
    expect(verdict(v1ContactSchema, withField(field, "🚀".repeat(min - 1)))).toEqual([`${field} too_small`]);
    expect(verdict(v1ContactSchema, withField(field, "🚀".repeat(min)))).toEqual([]);
  });

  const texts = [
    "email",
    "phone",
    "external_id",
    "first_name",
    "last_name",
    "email_opt_in",
    "phone_opt_in",
    "source",
  ];
  const moreTexts = ["dob", "gender", "country", "state", "city", "address1", "address2", "postal_code"];
  test.each([...texts, ...moreTexts])(
    "%s is a string, and no number, boolean, object, array or null",
    (field) => {
      for (const value of [5, true, {}, [], ["x"], null, NaN, 5n, () => "x"]) {
        expect(verdict(v1ContactSchema, withField(field, value))).toHaveLength(1);
        expect(issuesOf(v1ContactSchema, withField(field, value))[0]?.path).toEqual([field]);
      }
      expect(messageAt(v1ContactSchema, withField(field, null), field)).toContain("leave it out");
    },
  );

  test.each(["is_suppressed", "double_opt_in"])("%s is true or false", (field) => {
    expect(verdict(v1ContactSchema, withField(field, true))).toEqual([]);
    expect(verdict(v1ContactSchema, withField(field, false))).toEqual([]);
    for (const value of ["true", 1, null, {}]) {
      expect(verdict(v1ContactSchema, withField(field, value))).toEqual([`${field} invalid_type`]);
    }
  });

  test.each([
    ["email_opt_in", ["SUBSCRIBED", "NON_SUBSCRIBED", "UNSUBSCRIBED"]],
    ["phone_opt_in", ["SUBSCRIBED", "NON_SUBSCRIBED", "UNSUBSCRIBED"]],
    ["gender", ["MALE", "FEMALE", "OTHER"]],
  ])("%s is valid of %j; case counts, and the message names the right value", (field, values) => {
    for (const value of values) {
      expect(verdict(v1ContactSchema, withField(field, value))).toEqual([]);
      const lower = value.toLowerCase();
      expect(verdict(v1ContactSchema, withField(field, lower))).toEqual([`${field} invalid_value`]);
      expect(messageAt(v1ContactSchema, withField(field, lower), field)).toContain(`write ${value}`);
    }
    expect(verdict(v1ContactSchema, withField(field, ""))).toEqual([`${field} invalid_value`]);
  });

  test("external_id and source are any string, also an empty one", () => {
    expect(verdict(v1ContactSchema, { ...ada, external_id: "", source: "" })).toEqual([]);
  });

  test("a field whose value is undefined is omitted", () => {
    expect(verdict(v1ContactSchema, { ...ada, phone: undefined, custom_properties: undefined })).toEqual([]);
  });

  test("a list accepts a contact with an email only; a phone alone is not enough", () => {
    expect(verdict(v1ListContactSchema, ada)).toEqual([]);
    expect(verdict(v1ListContactSchema, { phone: "1234567" })).toEqual(["email invalid_type"]);
    expect(messageAt(v1ListContactSchema, { phone: "1234567" }, "email")).toContain(
      "a phone alone is not enough",
    );
  });

  test("the consent of addContact is required, and the message names the reason and the alternative", () => {
    expect(verdict(v1ConsentedListContactSchema, { ...ada, email_opt_in: "UNSUBSCRIBED" })).toEqual([]);
    expect(verdict(v1ConsentedListContactSchema, ada)).toEqual(["email_opt_in invalid_value"]);
    const message = messageAt(v1ConsentedListContactSchema, ada, "email_opt_in");
    expect(message).toContain("SUBSCRIBED");
    expect(message).toContain('{ consent: "service-decides" }');
    expect(messageAt(v1ConsentedListContactSchema, { ...ada, email_opt_in: "x" }, "email_opt_in")).toContain(
      "one of",
    );
  });
});

describe("Unknown fields of a v1 contact", () => {
  test.each([
    ["firstName", "first_name"],
    ["FIRST_NAME", "first_name"],
    ["Email", "email"],
    ["postalCode", "postal_code"],
    ["customProperties", "custom_properties"],
    ["emailOptIn", "email_opt_in"],
    ["address_1", "address1"],
  ])("%s is refused, and the message suggests %s", (given, meant) => {
    expect(verdict(v1ContactSchema, { ...ada, [given]: "x" })).toEqual([`${given} unrecognized_keys`]);
    expect(messageAt(v1ContactSchema, { ...ada, [given]: "x" }, given)).toContain(`write "${meant}"`);
  });

  test("each is a separate issue, which points to custom_properties", () => {
    expect(verdict(v1ContactSchema, { ...ada, plan: "pro", seats: 5 })).toEqual([
      "plan unrecognized_keys",
      "seats unrecognized_keys",
    ]);
    expect(messageAt(v1ContactSchema, { ...ada, plan: "pro" }, "plan")).toContain("custom_properties");
  });

  test("a wrapped contact and an array of contacts are refused with a remedy", () => {
    expect(messageAt(v1ListContactSchema, { contact: ada }, "contact")).toContain("not wrapped");
    expect(verdict(v1ListContactSchema, [ada])).toEqual(["invalid_type"]);
    expect(messageAt(v1ListContactSchema, [ada], "")).toBe(
      "must be an object, not an array: each is sent alone; for many, see audience.bulk",
    );
    expect(messageAt(v1ListContactSchema, null, "")).toBe("must be an object, not null");
  });
});

describe("All problems are reported at once", () => {
  test("wrong fields, unknown fields and the rule over several fields", () => {
    const contact = {
      firstName: "Ada",
      first_name: 5,
      gender: "male",
      custom_properties: { pet: { name: "Rex" } },
    };
    expect(verdict(v1ContactSchema, contact).toSorted()).toEqual([
      "custom_properties.pet invalid_type",
      "email custom",
      "firstName unrecognized_keys",
      "first_name invalid_type",
      "gender invalid_value",
    ]);
  });
});

const withProperties = (properties: unknown) => ({ ...ada, custom_properties: properties });

describe("custom_properties", () => {
  test("strings, numbers and booleans are sent unchanged, also blank strings", () => {
    const properties = { a: "x", b: 1.5, c: -0, d: true, e: false, f: "", g: "  " };
    expect(v1ContactSchema.parse(withProperties(properties))).toEqual(withProperties(properties));
  });

  test("30 keys are accepted, 31 are refused; a key whose value is undefined does not count", () => {
    expect(verdict(v1ContactSchema, withProperties(keys(30)))).toEqual([]);
    expect(verdict(v1ContactSchema, withProperties(keys(31)))).toEqual(["custom_properties too_big"]);
    const withUndefined = withProperties({ ...keys(30), gone: undefined });
    expect(verdict(v1ContactSchema, withUndefined)).toEqual([]);
    expect(v1ContactSchema.safeParse(withUndefined).success).toBe(true);
    expect(messageAt(v1ContactSchema, withProperties(keys(31)), "custom_properties")).toContain("30 keys");
  });

  test.each([
    ["an object", { a: 1 }],
    ["an array", ["a"]],
  ])("%s as a value is refused, and the message names flattenProperties", (_, value) => {
    expect(verdict(v1ContactSchema, withProperties({ pet: value }))).toEqual([
      "custom_properties.pet invalid_type",
    ]);
    expect(messageAt(v1ContactSchema, withProperties({ pet: value }), "custom_properties.pet")).toContain(
      "flattenProperties",
    );
    expect(verdict(v1ContactSchema, withProperties(flattenProperties({ pet: value })))).toEqual([]);
  });

  test("a Date as a value is refused, and the message names its string", () => {
    const since = new Date(0);
    expect(verdict(v1ContactSchema, withProperties({ since }))).toEqual([
      "custom_properties.since invalid_type",
    ]);
    expect(messageAt(v1ContactSchema, withProperties({ since }), "custom_properties.since")).toContain(
      "toISOString()",
    );
    expect(verdict(v1ContactSchema, withProperties({ since: since.toISOString() }))).toEqual([]);
  });

  test.each([null, NaN, Infinity, 5n, Symbol("s"), () => 1])("%s as a value is refused", (value) => {
    expect(verdict(v1ContactSchema, withProperties({ a: value, b: "x" }))).toEqual([
      "custom_properties.a invalid_type",
    ]);
  });

  test.each([null, "a", 5, [], new Map([["a", "b"]]), new Date(0)])(
    "%s is refused as custom_properties",
    (value) => {
      expect(verdict(v1ContactSchema, withProperties(value))).toEqual(["custom_properties invalid_type"]);
    },
  );
});

describe("The fields without the rule", () => {
  test("can be extended, picked, omitted and made partial, and stay strict", () => {
    const form = v1ContactFieldsSchema.extend({
      email: v1ListContactSchema.shape.email,
      plan: v1ContactFieldsSchema.shape.source,
    });
    expect(verdict(form, { ...ada, plan: "pro" })).toEqual([]);
    expect(verdict(form, { plan: "pro", other: 1 })).toEqual([
      "email invalid_type",
      "other unrecognized_keys",
    ]);
    expect(
      verdict(v1ContactFieldsSchema.pick({ email: true }), { ...ada, phone: "1234567", Email: "" }),
    ).toEqual(["phone unrecognized_keys", "Email unrecognized_keys"]);
    expect(verdict(v1ContactFieldsSchema.omit({ email: true }), ada)).toEqual(["email unrecognized_keys"]);
    expect(verdict(v1ListContactSchema.partial(), {})).toEqual([]);
    expect(verdict(v1ContactFieldsSchema.required({ email: true }), {})).toEqual(["email invalid_type"]);
  });
});
