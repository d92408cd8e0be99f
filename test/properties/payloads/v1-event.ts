import fc from "fast-check";
import { anyString, fieldOf, valuesExcept, type Field } from "./field.ts";
import { email } from "./formats.ts";
import { validObject, nested, nullFree, without, type Shape } from "./shape.ts";

const nonEmptyString = fieldOf({
  allowed: ["x", "order placed", "🎈", " ", "0"],
  forbidden: ["", ...valuesExcept("string")],
  valid: anyString.filter((text) => text !== ""),
});

/** Blank ones are unclassified: an exception covers them. */
const contactUUID = fieldOf({
  allowed: ["known", "unknown", "a/b", "0"],
  forbidden: ["", ...valuesExcept("string")],
  valid: anyString.filter((text) => text.trim() !== ""),
});

const nullInside = fc
  .tuple(
    fc.constantFrom("a", "", "constructor"),
    fc.constantFrom<unknown>(null, [null], { b: null }, [{ c: [null] }]),
  )
  .map(([key, value]) => ({ [key]: value }));

const eventData = fieldOf({
  allowed: [{}, { total: 9.5, items: [{ sku: "a", tags: [] }] }, { constructor: {} }],
  forbidden: [
    { a: null },
    { a: [null] },
    { a: { b: null } },
    { a: [{ b: [null] }] },
    ...valuesExcept("object"),
  ],
  valid: fc.dictionary(
    anyString.filter((text) => text !== "__proto__"),
    nullFree,
    { maxKeys: 4 },
  ),
  invalid: nullInside,
});

const contactShape: Shape = { fields: { email, contactUUID }, required: [], unknownKeys: "passed on" };
const ada = { email: "ada@example.com" };
const emailContact = validObject({ ...contactShape, required: ["email"] });
const uuidContact = validObject({ ...contactShape, required: ["contactUUID"] });

const shape: Shape = {
  fields: {
    eventName: nonEmptyString,
    uniqueIdentifier: nonEmptyString,
    contact: nested(contactShape, { base: fc.oneof(emailContact, uuidContact), minimal: ada }),
    contactUUID,
    eventData,
  },
  required: ["eventName"],
  unknownKeys: "refused",
};

const byContact = validObject({ ...shape, required: ["eventName", "contact"] });
const byRoot = validObject({ ...shape, required: ["eventName", "contactUUID"] });
const unidentified = [{}, { phone: "+390111111" }, { Email: "ada@example.com" }, { contactUuid: "known" }];
const byRootBesideUnidentified = fc
  .tuple(byRoot, fc.constantFrom(...unidentified))
  .map(([event, contact]) => ({ ...event, contact }));

const withoutContact = fc
  .tuple(byContact, fc.constantFrom(undefined, ...unidentified))
  .map(([event, contact]) => {
    const rest = without(without(event, "contact"), "contactUUID");
    return contact === undefined ? rest : { ...rest, contact };
  });

const event = nested(shape, {
  base: fc.oneof(byContact, byRoot, byRootBesideUnidentified),
  minimal: { eventName: "order placed", contact: ada },
});

/** `POST /api/v1/events` */
export const eventBody: Field = {
  ...event,
  forbidden: [
    ...event.forbidden,
    { eventName: "x" },
    ...unidentified.map((contact) => ({ eventName: "x", contact })),
  ],
  invalid: fc.oneof({ weight: 6, arbitrary: event.invalid }, { weight: 1, arbitrary: withoutContact }),
};
