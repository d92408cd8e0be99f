import fc from "fast-check";
import {
  anyJson,
  anyText,
  boundedText,
  fieldOf,
  freeText,
  oneOf,
  otherThan,
  yesOrNo,
  type Field,
} from "./field.ts";
import { email } from "./formats.ts";
import { day } from "./moments.ts";
import { goodObject, nested, without, type Shape } from "./shape.ts";

const optIn = oneOf("SUBSCRIBED", "NON_SUBSCRIBED", "UNSUBSCRIBED");

const propertyName = fc.oneof(
  fc.constantFrom("plan", "", "constructor", "toString", "0", "custom_properties", "ключ", "a.b"),
  anyText.filter((text) => text !== "__proto__"),
);
const flatValue = fc.oneof(
  anyText,
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
);
const properties = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`key ${at}`, at % 2 === 0 ? "" : at]));

/** "Custom property value rules"; nested values are odd: the service takes what it cannot use. */
const customProperties = fieldOf({
  allowed: [{}, { plan: "gold", seats: 3, isVip: true, blank: " " }, properties(29), properties(30)],
  forbidden: [
    properties(31),
    properties(60),
    { plan: null },
    { plan: "gold", seats: null },
    ...otherThan("object"),
  ],
  good: fc.dictionary(propertyName, flatValue, { maxKeys: 30 }),
  bad: fc
    .tuple(fc.dictionary(propertyName, flatValue, { maxKeys: 5 }), propertyName)
    .map(([object, name]) => ({ ...object, [name]: null })),
  odd: fc.oneof(
    fc.dictionary(fc.oneof(propertyName, fc.constant("__proto__")), anyJson, { maxKeys: 4 }),
    fc.integer({ min: 28, max: 33 }).map(properties),
  ),
});

const name = boundedText({ max: 100 });
const address = boundedText({ max: 255 });

/** "v1 contact", row by row. */
const fields: Readonly<Record<string, Field>> = {
  email,
  phone: boundedText({ min: 7, max: 20 }),
  external_id: freeText(),
  first_name: name,
  last_name: name,
  email_opt_in: optIn,
  phone_opt_in: optIn,
  is_suppressed: yesOrNo,
  double_opt_in: yesOrNo,
  source: freeText(),
  dob: day,
  gender: oneOf("MALE", "FEMALE", "OTHER"),
  country: name,
  state: name,
  city: name,
  address1: address,
  address2: address,
  postal_code: boundedText({ min: 3, max: 20 }),
  custom_properties: customProperties,
};

const shape: Shape = { fields, required: [], others: "refused" };
const listShape: Shape = { fields, required: ["email"], others: "refused" };

const withEmail = goodObject(listShape);
const withPhone = goodObject({ ...shape, required: ["phone"] });
const eitherWay = fc.oneof(withEmail, withPhone);
const nameless = eitherWay.map((contact) => without(without(contact, "email"), "phone"));
const wrapped = fc
  .tuple(withEmail, fc.constantFrom("contact", "data", "customer"))
  .map(([contact, key]) => ({ [key]: contact }));

const ada = { email: "ada@example.com" };
const customer = nested(shape, { base: eitherWay, plainest: ada });
const listed = nested(listShape, { plainest: ada });

/** `POST /api/v1/customer/create` */
export const customerBody: Field = {
  ...customer,
  allowed: [...customer.allowed, { phone: "1234567" }],
  forbidden: [...customer.forbidden, {}, { first_name: "Ada" }, { contact: ada }],
  bad: fc.oneof(
    { weight: 8, arbitrary: customer.bad },
    { weight: 1, arbitrary: nameless },
    { weight: 1, arbitrary: wrapped },
  ),
};

/** `POST /api/v1/contact-groups/{listId}/contacts`: wrapped contacts, and those with a phone alone, are refused. */
export const listContactBody: Field = {
  ...listed,
  forbidden: [...listed.forbidden, {}, { phone: "1234567" }, { contact: ada }, [ada]],
  bad: fc.oneof(
    { weight: 8, arbitrary: listed.bad },
    { weight: 1, arbitrary: withPhone.map((contact) => without(contact, "email")) },
    { weight: 1, arbitrary: wrapped },
  ),
};
