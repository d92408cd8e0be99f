import fc from "fast-check";
import { anyJson, anyText, otherThan, type Field } from "./field.ts";
import { email } from "./formats.ts";
import { goodObject, nested, nullFree, without, type Shape } from "./shape.ts";

const filledText: Field = {
  good: anyText.filter((text) => text !== ""),
  bad: fc.oneof(fc.constant(""), otherThan("text")),
  odd: fc.oneof(anyText, anyJson),
};

const contactUUID: Field = {
  good: fc.oneof(
    fc.constantFrom("known", "unknown", "a/b", "0"),
    anyText.filter((text) => text.trim() !== ""),
  ),
  bad: filledText.bad,
  odd: filledText.odd,
};

const nullInside = fc
  .tuple(
    fc.constantFrom("a", "", "constructor"),
    fc.constantFrom<unknown>(null, [null], { b: null }, [{ c: [null] }]),
  )
  .map(([key, value]) => ({ [key]: value }));

const eventData: Field = {
  good: fc.dictionary(
    anyText.filter((text) => text !== "__proto__"),
    nullFree,
    { maxKeys: 4 },
  ),
  bad: fc.oneof(otherThan("object"), nullInside),
  odd: anyJson,
};

const contactShape: Shape = { fields: { email, contactUUID }, required: [], others: "passed on" };
const emailContact = goodObject({ ...contactShape, required: ["email"] });
const uuidContact = goodObject({ ...contactShape, required: ["contactUUID"] });
const namedContact = fc.oneof(emailContact, uuidContact);

const shape: Shape = {
  fields: {
    eventName: filledText,
    uniqueIdentifier: filledText,
    contact: nested(contactShape, namedContact),
    contactUUID,
    eventData,
  },
  required: ["eventName"],
  others: "refused",
};

const byContact = goodObject({ ...shape, required: ["eventName", "contact"] });
const byRoot = goodObject({ ...shape, required: ["eventName", "contactUUID"] });
const byRootBesideNameless = fc
  .tuple(byRoot, fc.constantFrom({}, { phone: "+390111111" }))
  .map(([event, contact]) => ({ ...event, contact }));
const good = fc.oneof(byContact, byRoot, byRootBesideNameless);

const nobody = fc
  .tuple(
    byContact,
    fc.constantFrom<unknown>(undefined, {}, { phone: "+390111111" }, { Email: "ada@example.com" }),
  )
  .map(([event, contact]) => {
    const rest = without(without(event, "contact"), "contactUUID");
    return contact === undefined ? rest : { ...rest, contact };
  });
const event = nested(shape, good);

/** `POST /api/v1/events` */
export const eventBody: Field = {
  good,
  bad: fc.oneof({ weight: 6, arbitrary: event.bad }, { weight: 1, arbitrary: nobody }),
  odd: event.odd,
};
