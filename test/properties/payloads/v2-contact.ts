import fc from "fast-check";
import { anyJson, anyText, freeText, oneOf, otherThan, yesOrNo, type Field } from "./field.ts";
import { countryCode, day, dayOrDateTime, dateTime, email, ipAddress } from "./formats.ts";
import { goodObject, nested, type Shape } from "./shape.ts";

type IdentifierType = "email" | "phone";

/** Phones that contacts have: a v2 contact with a phone alone can only be an update. */
export const knownPhones = ["+390111111", "391234567", "1234567"] as const;

const anyType = oneOf("email", "phone");
const channel = nested({ fields: { status: freeText() }, required: ["status"], others: "passed on" });
const consent = nested({
  fields: { createdAt: dateTime, ip: ipAddress, source: freeText() },
  required: ["createdAt", "ip", "source"],
  others: "passed on",
});

const anyPhone: Field = {
  good: fc.oneof(anyText, fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true })),
  bad: otherThan("text", "number"),
  odd: anyJson,
};
const knownPhone: Field = { ...anyPhone, good: fc.constantFrom<unknown>(...knownPhones, 391_234_567) };

/** "The `email` key is required when no phone identifier is given", and the other way round. */
function identifierField(
  type: IdentifierType,
  types: readonly IdentifierType[],
  lonePhone = knownPhone,
): Field {
  const hasBoth = types.includes("email") && types.includes("phone");
  const channels = nested({
    fields: { email: channel, phone: channel },
    required: hasBoth ? [] : [type],
    others: "passed on",
  });
  const phone = hasBoth ? anyPhone : lonePhone;
  const fields = {
    type: { ...anyType, good: fc.constant(type) },
    id: type === "email" ? email : phone,
    channels,
    consent,
  };
  return nested({ fields, required: ["type", "id", "channels", "consent"], others: "passed on" });
}

const combinations: readonly (readonly IdentifierType[])[] = [
  ["email"],
  ["phone"],
  ["email", "email"],
  ["phone", "phone"],
  ["email", "phone"],
  ["phone", "email", "email"],
];

const identifierLists = combinations.map((types) => types.map((type) => identifierField(type, types)));
const allGood = (fields: readonly Field[]) => fc.tuple(...fields.map(({ good }) => good));
/** All good but one. */
const withOne = (kind: "bad" | "odd") =>
  identifierLists.flatMap((fields) =>
    fields.map((_, at) => fc.tuple(...fields.map((field, index) => field[index === at ? kind : "good"]))),
  );

const identifiers: Field = {
  good: fc.oneof(...identifierLists.map(allGood)),
  bad: fc.oneof(
    { weight: 6, arbitrary: fc.oneof(...withOne("bad")) },
    { weight: 1, arbitrary: fc.constantFrom<unknown>([], [null], ["ada@example.com"], [[]], {}) },
    { weight: 1, arbitrary: otherThan("array") },
  ),
  odd: fc.oneof(
    { weight: 5, arbitrary: fc.oneof(...withOne("odd")) },
    {
      weight: 1,
      arbitrary: identifierField("phone", ["phone"], anyPhone).good.map((identifier) => [identifier]),
    },
    { weight: 1, arbitrary: anyJson },
  ),
};

const listIds: Field = {
  good: fc.oneof(
    fc.constantFrom<unknown>([], ["news"], ["news", "news"], ["nothing"]),
    fc.array(anyText, { maxLength: 3 }),
  ),
  bad: fc.oneof(otherThan("array"), fc.constantFrom<unknown>([null], [7], [["news"]], ["news", {}])),
  odd: fc.oneof(fc.array(anyJson, { maxLength: 3 }), anyJson),
};

/** "v2 contact", row by row. */
const shape: Shape = {
  fields: {
    firstName: freeText(),
    lastName: freeText(),
    birthDate: day,
    city: freeText(),
    countryCode,
    country: freeText(),
    provinceCode: freeText(),
    state: freeText(),
    postalCode: freeText(),
    gender: freeText(),
    createdAt: dayOrDateTime,
    triggerWelcomeEmail: yesOrNo,
    listIds,
    identifiers,
  },
  required: ["firstName", "listIds", "identifiers"],
  others: "passed on",
};

const contact = nested(shape, goodObject(shape));

/** `POST /v2/contacts`; what is wrong is as often in an identifier as anywhere else. */
export const v2ContactBody: Field = {
  good: contact.good,
  bad: fc.oneof(contact.bad, contactWith(identifiers.bad)),
  odd: fc.oneof(contact.odd, contactWith(identifiers.odd)),
};

function contactWith(values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.tuple(goodObject(shape), values).map(([object, value]) => ({ ...object, identifiers: value }));
}
