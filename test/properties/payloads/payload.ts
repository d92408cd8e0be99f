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
  type Field,
  fieldOf,
  ipAddress,
  nested,
  valuesExcept,
} from "./fields.ts";

const optIn = enumField("SUBSCRIBED", "NON_SUBSCRIBED", "UNSUBSCRIBED");

const properties = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`key ${at}`, at % 2 === 0 ? "" : at]));
const propertyName = fc.constantFrom(
  "plan",
  "",
  "constructor",
  "0",
  "custom_properties",
  "ключ",
  "__proto__",
);

/** "Custom property value rules"; nested values only in `any`: the service accepts values that it cannot use. */
const customProperties = fieldOf(
  [{}, { plan: "gold", seats: 3, isVip: true, blank: " " }, properties(29), properties(30)],
  [properties(31), properties(60), { plan: null }, { plan: "gold", seats: null }, ...valuesExcept("object")],
  fc.dictionary(fc.oneof(propertyName, anyString), fc.oneof(anyString, fc.double(), anyJson), { maxKeys: 4 }),
  fc.integer({ min: 28, max: 33 }).map(properties),
);

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

const ada = { email: "ada@example.com" };

/** With bodies that more than the fields of the shape forbids, and their like. */
function alsoForbidden(field: Field, ...bodies: unknown[]): Field {
  const wrapped = field.any.map((body) => ({ contact: body }));
  const any = fc.oneof(
    { weight: 9, arbitrary: field.any },
    { weight: 1, arbitrary: fc.oneof(fc.constantFrom(...bodies), wrapped) },
  );
  return { ...field, forbidden: [...field.forbidden, ...bodies], any };
}

/** `POST /api/v1/customer/create` */
const customerBody = alsoForbidden(
  nested({ fields: v1Fields, required: [["email"], ["phone"]], unknownKeys: "refused" }),
  {},
  { first_name: "Ada" },
  { contact: ada },
);

/** `POST /api/v1/contact-groups/{listId}/contacts`: wrapped contacts, and those with a phone alone, are refused. */
const listContactBody = alsoForbidden(
  nested({ fields: v1Fields, required: [["email"]], unknownKeys: "refused" }),
  {},
  { phone: "1234567" },
  { contact: ada },
  [ada],
);

const nonEmptyString = fieldOf(["x", "order placed", "🎈", " ", "0"], ["", ...valuesExcept("string")]);
/** Blank ones only in `any`: an exception covers them. */
const contactUUID = fieldOf(["known", "unknown", "a/b", "0"], ["", ...valuesExcept("string")]);
const eventData = fieldOf(
  [{}, { total: 9.5, items: [{ sku: "a", tags: [] }] }, { constructor: {} }],
  [{ a: null }, { a: [null] }, { a: { b: null } }, { a: [{ b: [null] }] }, ...valuesExcept("object")],
  fc.dictionary(anyString, anyJson, { maxKeys: 4 }),
);

const unidentified = [{}, { phone: "+390111111" }, { Email: "ada@example.com" }, { contactUuid: "known" }];

/** `POST /api/v1/events` */
const eventBody = alsoForbidden(
  nested({
    fields: {
      contact: nested({
        fields: { email, contactUUID },
        required: [["email"], ["contactUUID"]],
        unknownKeys: "passed on",
      }),
      eventName: nonEmptyString,
      uniqueIdentifier: nonEmptyString,
      contactUUID,
      eventData,
    },
    required: [
      ["eventName", "contact"],
      ["eventName", "contactUUID"],
    ],
    unknownKeys: "refused",
  }),
  { eventName: "x" },
  { contact: ada },
  ...unidentified.map((contact) => ({ eventName: "x", contact })),
);

type IdentifierType = "email" | "phone";

/** The phones of existing contacts: a v2 contact with only a phone can only be an update. */
export const knownPhones = ["+390111111", "391234567", "1234567"] as const;

const channel = nested({
  fields: { status: anyStringField() },
  required: [["status"]],
  unknownKeys: "passed on",
});
const consent = nested({
  fields: { createdAt: dateTime, ip: ipAddress, source: anyStringField() },
  required: [["createdAt", "ip", "source"]],
  unknownKeys: "passed on",
});

const noPhones = valuesExcept("string", "number");
const knownPhone = fieldOf([...knownPhones, 391_234_567], noPhones);
const anyPhone = fieldOf(["", "+390111111", 391_234_567, 0, -1.5], noPhones, fc.integer(), fc.double());

/** "The `email` key is required when no phone identifier is given", and the other way round. */
function identifierField(type: IdentifierType, types: readonly IdentifierType[]): Field {
  const hasBoth = types.includes("email") && types.includes("phone");
  const channels = nested({
    fields: { email: channel, phone: channel },
    required: [hasBoth ? [] : [type]],
    unknownKeys: "passed on",
  });
  const phone = hasBoth ? anyPhone : knownPhone;
  const ownType = { ...enumField("email", "phone"), allowed: [type] };
  const fields = { type: ownType, id: type === "email" ? email : phone, channels, consent };
  return nested({ fields, required: [["type", "id", "channels", "consent"]], unknownKeys: "passed on" });
}

const combinations: readonly (readonly IdentifierType[])[] = [
  ["email"],
  ["phone"],
  ["email", "phone"],
  ["email", "email"],
  ["phone", "phone"],
  ["phone", "email", "email"],
];
const identifierLists = combinations.map((types) => types.map((type) => identifierField(type, types)));

/** One array for each fixed value of each identifier; further ones of the same type change no rule. */
const listsOf = (kind: "allowed" | "forbidden") =>
  identifierLists
    .slice(0, 3)
    .flatMap((fields) =>
      fields.flatMap((changed, at) =>
        changed[kind].map((value) => fields.map((field, index) => (index === at ? value : field.allowed[0]))),
      ),
    );

/** All identifiers are allowed but one, which is any. */
const anyIdentifiers = identifierLists.flatMap((fields) =>
  fields.map((_, at) =>
    fc.tuple(...fields.map((field, index) => (index === at ? field.any : fc.constantFrom(...field.allowed)))),
  ),
);

const identifiers = fieldOf(
  listsOf("allowed"),
  [...listsOf("forbidden"), [], [null], ["ada@example.com"], [[]], ...valuesExcept("array")],
  ...anyIdentifiers,
);

const listIds = fieldOf(
  [[], ["news"], ["news", "news"], ["nothing"], [""]],
  [[null], [7], [["news"]], ["news", {}], ...valuesExcept("array")],
  fc.array(anyJson, { maxLength: 3 }),
);

/** `POST /v2/contacts`: "v2 contact", row by row. */
const v2ContactBody = nested({
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
  required: [["firstName", "listIds", "identifiers"]],
  unknownKeys: "passed on",
});

export type Verdict = "accepted" | "refused";

/** A request body, and the verdict that the document gives it, where the generator knows it. */
export interface Payload {
  readonly write: Write;
  readonly body: unknown;
  readonly verdict?: Verdict;
}

const bodies = {
  "v1.customers.upsert": customerBody,
  "v1.contactGroups.addContact": listContactBody,
  "v1.events.send": eventBody,
  "v2.contacts.upsert": v2ContactBody,
};

/** The four writes, named as the calls of the client. */
export type Write = keyof typeof bodies;

export const writes = Object.keys(bodies) as Write[]; // Safe: these are the keys of the table above.

/** A body for each fixed value: the same in every run. */
export const fixedPayloads: readonly Payload[] = writes.flatMap((write) => [
  ...bodies[write].allowed.map((body): Payload => ({ write, verdict: "accepted", body })),
  ...bodies[write].forbidden.map((body): Payload => ({ write, verdict: "refused", body })),
]);

export const anyPayload: fc.Arbitrary<Payload> = fc.oneof(
  ...writes.map((write) => bodies[write].any.map((body): Payload => ({ write, body }))),
);
