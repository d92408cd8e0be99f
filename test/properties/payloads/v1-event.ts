import fc from "fast-check";
import { anyText, fieldOf, otherThan, type Field } from "./field.ts";
import { email } from "./formats.ts";
import { goodObject, nested, nullFree, without, type Shape } from "./shape.ts";

const filledText = fieldOf({
  allowed: ["x", "order placed", "🎈", " ", "0"],
  forbidden: ["", ...otherThan("text")],
  good: anyText.filter((text) => text !== ""),
});

/** Blank ones are odd: they have an exception of their own. */
const contactUUID = fieldOf({
  allowed: ["known", "unknown", "a/b", "0"],
  forbidden: ["", ...otherThan("text")],
  good: anyText.filter((text) => text.trim() !== ""),
});

const nullInside = fc
  .tuple(
    fc.constantFrom("a", "", "constructor"),
    fc.constantFrom<unknown>(null, [null], { b: null }, [{ c: [null] }]),
  )
  .map(([key, value]) => ({ [key]: value }));

const eventData = fieldOf({
  allowed: [{}, { total: 9.5, items: [{ sku: "a", tags: [] }] }, { constructor: {} }],
  forbidden: [{ a: null }, { a: [null] }, { a: { b: null } }, { a: [{ b: [null] }] }, ...otherThan("object")],
  good: fc.dictionary(
    anyText.filter((text) => text !== "__proto__"),
    nullFree,
    { maxKeys: 4 },
  ),
  bad: nullInside,
});

const contactShape: Shape = { fields: { email, contactUUID }, required: [], others: "passed on" };
const ada = { email: "ada@example.com" };
const emailContact = goodObject({ ...contactShape, required: ["email"] });
const uuidContact = goodObject({ ...contactShape, required: ["contactUUID"] });

const shape: Shape = {
  fields: {
    eventName: filledText,
    uniqueIdentifier: filledText,
    contact: nested(contactShape, { base: fc.oneof(emailContact, uuidContact), plainest: ada }),
    contactUUID,
    eventData,
  },
  required: ["eventName"],
  others: "refused",
};

const byContact = goodObject({ ...shape, required: ["eventName", "contact"] });
const byRoot = goodObject({ ...shape, required: ["eventName", "contactUUID"] });
const nameless = [{}, { phone: "+390111111" }, { Email: "ada@example.com" }, { contactUuid: "known" }];
const byRootBesideNameless = fc
  .tuple(byRoot, fc.constantFrom(...nameless))
  .map(([event, contact]) => ({ ...event, contact }));

const nobodys = fc.tuple(byContact, fc.constantFrom(undefined, ...nameless)).map(([event, contact]) => {
  const rest = without(without(event, "contact"), "contactUUID");
  return contact === undefined ? rest : { ...rest, contact };
});

const event = nested(shape, {
  base: fc.oneof(byContact, byRoot, byRootBesideNameless),
  plainest: { eventName: "order placed", contact: ada },
});

/** `POST /api/v1/events` */
export const eventBody: Field = {
  ...event,
  forbidden: [
    ...event.forbidden,
    { eventName: "x" },
    ...nameless.map((contact) => ({ eventName: "x", contact })),
  ],
  bad: fc.oneof({ weight: 6, arbitrary: event.bad }, { weight: 1, arbitrary: nobodys }),
};
