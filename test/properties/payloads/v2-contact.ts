import fc from "fast-check";
import {
  anyJson,
  anyString,
  fieldOf,
  anyStringField,
  enumField,
  valuesExcept,
  booleanField,
  type Field,
} from "./field.ts";
import { countryCode, email, ipAddress } from "./formats.ts";
import { dateTime, day, dayOrDateTime } from "./moments.ts";
import { validObject, nested, type Shape } from "./shape.ts";

type IdentifierType = "email" | "phone";

/** The phones of existing contacts: a v2 contact with only a phone can only be an update. */
export const knownPhones = ["+390111111", "391234567", "1234567"] as const;

const anyType = enumField("email", "phone");
const channel = nested({
  fields: { status: anyStringField() },
  required: ["status"],
  unknownKeys: "passed on",
});
const consent = nested({
  fields: { createdAt: dateTime, ip: ipAddress, source: anyStringField() },
  required: ["createdAt", "ip", "source"],
  unknownKeys: "passed on",
});

const noPhones = valuesExcept("string", "number");
const knownPhone = fieldOf({ allowed: [...knownPhones, 391_234_567], forbidden: noPhones });
const anyPhone = fieldOf({
  allowed: ["", "+390111111", 391_234_567, 0, -1.5],
  forbidden: noPhones,
  valid: fc.oneof(anyString, fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true })),
});

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
    unknownKeys: "passed on",
  });
  const phone = hasBoth ? anyPhone : lonePhone;
  const ownType = { ...anyType, allowed: [type], valid: fc.constant(type) };
  const fields = { type: ownType, id: type === "email" ? email : phone, channels, consent };
  return nested({ fields, required: ["type", "id", "channels", "consent"], unknownKeys: "passed on" });
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

/** All valid but one. */
const withOne = (kind: "invalid" | "unclassified") =>
  identifierLists.flatMap((fields) =>
    fields.map((_, at) => fc.tuple(...fields.map((field, index) => field[index === at ? kind : "valid"]))),
  );

/** One array for each fixed value of each identifier. */
const listsOf = (kind: "allowed" | "forbidden") =>
  identifierLists.flatMap((fields) =>
    fields.flatMap((changed, at) =>
      changed[kind].map((value) => fields.map((field, index) => (index === at ? value : field.allowed[0]))),
    ),
  );

const maybeUnknownPhone = identifierField("phone", ["phone"], anyPhone).valid.map((identifier) => [
  identifier,
]);

const identifiers = fieldOf({
  allowed: listsOf("allowed"),
  forbidden: [...listsOf("forbidden"), [], [null], ["ada@example.com"], [[]], ...valuesExcept("array")],
  valid: fc.oneof(...identifierLists.map((fields) => fc.tuple(...fields.map(({ valid }) => valid)))),
  invalid: fc.oneof(...withOne("invalid")),
  unclassified: fc.oneof(
    { weight: 6, arbitrary: fc.oneof(...withOne("unclassified")) },
    { weight: 1, arbitrary: maybeUnknownPhone },
  ),
});

const listIds = fieldOf({
  allowed: [[], ["news"], ["news", "news"], ["nothing"], [""]],
  forbidden: [[null], [7], [["news"]], ["news", {}], ...valuesExcept("array")],
  valid: fc.array(anyString, { maxLength: 3 }),
  unclassified: fc.array(anyJson, { maxLength: 3 }),
});

/** "v2 contact", row by row. */
const shape: Shape = {
  fields: {
    firstName: anyStringField(),
    lastName: anyStringField(),
    birthDate: day,
    city: anyStringField(),
    countryCode,
    country: anyStringField(),
    provinceCode: anyStringField(),
    state: anyStringField(),
    postalCode: anyStringField(),
    gender: anyStringField(),
    createdAt: dayOrDateTime,
    triggerWelcomeEmail: booleanField,
    listIds,
    identifiers,
  },
  required: ["firstName", "listIds", "identifiers"],
  unknownKeys: "passed on",
};

const contact = nested(shape);
const contactWith = (values: fc.Arbitrary<unknown>) =>
  fc.tuple(validObject(shape), values).map(([object, value]) => ({ ...object, identifiers: value }));

/** `POST /v2/contacts`; half of the invalid values are in an identifier. */
export const v2ContactBody: Field = {
  ...contact,
  invalid: fc.oneof(contact.invalid, contactWith(identifiers.invalid)),
  unclassified: fc.oneof(contact.unclassified, contactWith(identifiers.unclassified)),
};
