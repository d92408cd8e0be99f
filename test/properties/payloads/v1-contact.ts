import fc from "fast-check";
import {
  anyJson,
  anyString,
  boundedString,
  fieldOf,
  anyStringField,
  enumField,
  valuesExcept,
  booleanField,
  type Field,
} from "./field.ts";
import { email } from "./formats.ts";
import { day } from "./moments.ts";
import { validObject, nested, without, type Shape } from "./shape.ts";

const optIn = enumField("SUBSCRIBED", "NON_SUBSCRIBED", "UNSUBSCRIBED");

const propertyName = fc.oneof(
  fc.constantFrom("plan", "", "constructor", "toString", "0", "custom_properties", "ключ", "a.b"),
  anyString.filter((text) => text !== "__proto__"),
);
const flatValue = fc.oneof(
  anyString,
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
);
const properties = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`key ${at}`, at % 2 === 0 ? "" : at]));

/** "Custom property value rules"; nested values are unclassified: the service accepts values that it cannot use. */
const customProperties = fieldOf({
  allowed: [{}, { plan: "gold", seats: 3, isVip: true, blank: " " }, properties(29), properties(30)],
  forbidden: [
    properties(31),
    properties(60),
    { plan: null },
    { plan: "gold", seats: null },
    ...valuesExcept("object"),
  ],
  valid: fc.dictionary(propertyName, flatValue, { maxKeys: 30 }),
  invalid: fc
    .tuple(fc.dictionary(propertyName, flatValue, { maxKeys: 5 }), propertyName)
    .map(([object, name]) => ({ ...object, [name]: null })),
  unclassified: fc.oneof(
    fc.dictionary(fc.oneof(propertyName, fc.constant("__proto__")), anyJson, { maxKeys: 4 }),
    fc.integer({ min: 28, max: 33 }).map(properties),
  ),
});

const name = boundedString({ max: 100 });
const address = boundedString({ max: 255 });

/** "v1 contact", row by row. */
const fields: Readonly<Record<string, Field>> = {
  email,
  phone: boundedString({ min: 7, max: 20 }),
  external_id: anyStringField(),
  first_name: name,
  last_name: name,
  email_opt_in: optIn,
  phone_opt_in: optIn,
  is_suppressed: booleanField,
  double_opt_in: booleanField,
  source: anyStringField(),
  dob: day,
  gender: enumField("MALE", "FEMALE", "OTHER"),
  country: name,
  state: name,
  city: name,
  address1: address,
  address2: address,
  postal_code: boundedString({ min: 3, max: 20 }),
  custom_properties: customProperties,
};

const shape: Shape = { fields, required: [], unknownKeys: "refused" };
const listShape: Shape = { fields, required: ["email"], unknownKeys: "refused" };

const withEmail = validObject(listShape);
const withPhone = validObject({ ...shape, required: ["phone"] });
const eitherWay = fc.oneof(withEmail, withPhone);
const unidentified = eitherWay.map((contact) => without(without(contact, "email"), "phone"));
const wrapped = fc
  .tuple(withEmail, fc.constantFrom("contact", "data", "customer"))
  .map(([contact, key]) => ({ [key]: contact }));

const ada = { email: "ada@example.com" };
const customer = nested(shape, { base: eitherWay, minimal: ada });
const listed = nested(listShape, { minimal: ada });

/** `POST /api/v1/customer/create` */
export const customerBody: Field = {
  ...customer,
  allowed: [...customer.allowed, { phone: "1234567" }],
  forbidden: [...customer.forbidden, {}, { first_name: "Ada" }, { contact: ada }],
  invalid: fc.oneof(
    { weight: 8, arbitrary: customer.invalid },
    { weight: 1, arbitrary: unidentified },
    { weight: 1, arbitrary: wrapped },
  ),
};

/** `POST /api/v1/contact-groups/{listId}/contacts`: wrapped contacts, and those with a phone alone, are refused. */
export const listContactBody: Field = {
  ...listed,
  forbidden: [...listed.forbidden, {}, { phone: "1234567" }, { contact: ada }, [ada]],
  invalid: fc.oneof(
    { weight: 8, arbitrary: listed.invalid },
    { weight: 1, arbitrary: withPhone.map((contact) => without(contact, "email")) },
    { weight: 1, arbitrary: wrapped },
  ),
};
