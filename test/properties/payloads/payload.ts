import fc from "fast-check";
import {
  anyJson,
  anyString,
  anyStringField,
  booleanField,
  boundedString,
  countryCode,
  dateTime,
  day,
  dayOrDateTime,
  email,
  enumField,
  fieldOf,
  ipAddress,
  valuesExcept,
  nested,
  nullFree,
  validObject,
  without,
  type Field,
  type Shape,
} from "./fields.ts";

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
const v1Fields: Readonly<Record<string, Field>> = {
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

const customerShape: Shape = { fields: v1Fields, required: [], unknownKeys: "refused" };
const listedShape: Shape = { fields: v1Fields, required: ["email"], unknownKeys: "refused" };

const withEmail = validObject(listedShape);
const withPhone = validObject({ ...customerShape, required: ["phone"] });
const eitherWay = fc.oneof(withEmail, withPhone);
const unidentified = eitherWay.map((contact) => without(without(contact, "email"), "phone"));
const wrapped = fc
  .tuple(withEmail, fc.constantFrom("contact", "data", "customer"))
  .map(([contact, key]) => ({ [key]: contact }));

const ada = { email: "ada@example.com" };
const customer = nested(customerShape, { base: eitherWay, minimal: ada });
const listed = nested(listedShape, { minimal: ada });

/** `POST /api/v1/customer/create` */
const customerBody: Field = {
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
const listContactBody: Field = {
  ...listed,
  forbidden: [...listed.forbidden, {}, { phone: "1234567" }, { contact: ada }, [ada]],
  invalid: fc.oneof(
    { weight: 8, arbitrary: listed.invalid },
    { weight: 1, arbitrary: withPhone.map((contact) => without(contact, "email")) },
    { weight: 1, arbitrary: wrapped },
  ),
};

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

const eventContactShape: Shape = { fields: { email, contactUUID }, required: [], unknownKeys: "passed on" };
const emailContact = validObject({ ...eventContactShape, required: ["email"] });
const uuidContact = validObject({ ...eventContactShape, required: ["contactUUID"] });

const eventShape: Shape = {
  fields: {
    eventName: nonEmptyString,
    uniqueIdentifier: nonEmptyString,
    contact: nested(eventContactShape, { base: fc.oneof(emailContact, uuidContact), minimal: ada }),
    contactUUID,
    eventData,
  },
  required: ["eventName"],
  unknownKeys: "refused",
};

const byContact = validObject({ ...eventShape, required: ["eventName", "contact"] });
const byRoot = validObject({ ...eventShape, required: ["eventName", "contactUUID"] });
const unidentifiedContacts = [
  {},
  { phone: "+390111111" },
  { Email: "ada@example.com" },
  { contactUuid: "known" },
];
const byRootBesideUnidentified = fc
  .tuple(byRoot, fc.constantFrom(...unidentifiedContacts))
  .map(([event, contact]) => ({ ...event, contact }));

const withoutContact = fc
  .tuple(byContact, fc.constantFrom(undefined, ...unidentifiedContacts))
  .map(([event, contact]) => {
    const rest = without(without(event, "contact"), "contactUUID");
    return contact === undefined ? rest : { ...rest, contact };
  });

const event = nested(eventShape, {
  base: fc.oneof(byContact, byRoot, byRootBesideUnidentified),
  minimal: { eventName: "order placed", contact: ada },
});

/** `POST /api/v1/events` */
const eventBody: Field = {
  ...event,
  forbidden: [
    ...event.forbidden,
    { eventName: "x" },
    ...unidentifiedContacts.map((contact) => ({ eventName: "x", contact })),
  ],
  invalid: fc.oneof({ weight: 6, arbitrary: event.invalid }, { weight: 1, arbitrary: withoutContact }),
};

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

const isWithoutRepetition = (_: unknown, at: number) =>
  new Set(combinations[at]).size === combinations[at]?.length;

const identifierLists = combinations.map((types) => types.map((type) => identifierField(type, types)));

/** All valid but one. */
const withOne = (kind: "invalid" | "unclassified") =>
  identifierLists.flatMap((fields) =>
    fields.map((_, at) => fc.tuple(...fields.map((field, index) => field[index === at ? kind : "valid"]))),
  );

/** One array for each fixed value of each identifier; further ones of the same type change no rule. */
const listsOf = (kind: "allowed" | "forbidden") =>
  identifierLists
    .filter(isWithoutRepetition)
    .flatMap((fields) =>
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
const v2Shape: Shape = {
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

const v2Contact = nested(v2Shape);
const contactWith = (values: fc.Arbitrary<unknown>) =>
  fc.tuple(validObject(v2Shape), values).map(([object, value]) => ({ ...object, identifiers: value }));

/** `POST /v2/contacts`; half of the invalid values are in an identifier. */
const v2ContactBody: Field = {
  ...v2Contact,
  invalid: fc.oneof(v2Contact.invalid, contactWith(identifiers.invalid)),
  unclassified: fc.oneof(v2Contact.unclassified, contactWith(identifiers.unclassified)),
};

/** The four writes, named as the calls of the client. */
export type Write =
  | "v1.customers.upsert"
  | "v1.contactGroups.addContact"
  | "v1.events.send"
  | "v2.contacts.upsert";

/** A request body, and its expected verdict: a valid one must be accepted, an invalid one refused. */
export interface Payload {
  readonly write: Write;
  readonly made: "valid" | "invalid" | "unclassified";
  readonly body: unknown;
}

const bodies: Readonly<Record<Write, Field>> = {
  "v1.customers.upsert": customerBody,
  "v1.contactGroups.addContact": listContactBody,
  "v1.events.send": eventBody,
  "v2.contacts.upsert": v2ContactBody,
};

export const writes = Object.keys(bodies) as Write[]; // Safe: these are the keys of the table above.

/** A body for each fixed value: the same in every run. */
export const fixedPayloads: readonly Payload[] = writes.flatMap((write) => [
  ...bodies[write].allowed.map((body): Payload => ({ write, made: "valid", body })),
  ...bodies[write].forbidden.map((body): Payload => ({ write, made: "invalid", body })),
]);

export const anyPayload: fc.Arbitrary<Payload> = fc.oneof(
  ...writes.flatMap((write) => [
    bodies[write].valid.map((body): Payload => ({ write, made: "valid", body })),
    bodies[write].invalid.map((body): Payload => ({ write, made: "invalid", body })),
    bodies[write].unclassified.map((body): Payload => ({ write, made: "unclassified", body })),
  ]),
);
