import {
  anythingButNull,
  boolean,
  enumOf,
  isObject,
  mapOf,
  nonEmptyString,
  note,
  object,
  type Rule,
  string,
  stringThat,
} from "../json-rules.ts";
import { refusalOf, require } from "../refusal.ts";
import type { ContactFields } from "../state/contact-fields.ts";
import { countryCodeOf, isDay, isEmail } from "../string-formats.ts";
import type { MockVariants } from "../variants.ts";

const optIn = enumOf("SUBSCRIBED", "NON_SUBSCRIBED", "UNSUBSCRIBED");
// "Limits": characters.
const name = string({ max: 100 });
const address = string({ max: 255 });

/** A custom property may be any value except null: nested values are stored as unusable text ("Custom property value rules"). */
const customProperty: Rule = (value, path, problems) => {
  if (value === null) note(problems, path, "must not be null");
};

const CONTACT_SECTION = "v1 contact";

/** "v1 contact", field by field. */
const CONTACT_FIELDS = {
  email: stringThat(isEmail, "must be an email address"),
  phone: string({ min: 7, max: 20 }),
  external_id: string(),
  first_name: name,
  last_name: name,
  email_opt_in: optIn,
  phone_opt_in: optIn,
  is_suppressed: boolean,
  double_opt_in: boolean,
  source: string(),
  dob: stringThat(isDay, "must be a day of the calendar, YYYY-MM-DD"),
  gender: enumOf("MALE", "FEMALE", "OTHER"),
  country: name,
  state: name,
  city: name,
  address1: address,
  address2: address,
  postal_code: string({ min: 3, max: 20 }),
  custom_properties: mapOf(customProperty, { maxKeys: 30 }),
} satisfies Record<string, Rule>;

/** Their names, in the order of the document. */
export const V1_CONTACT_FIELDS: readonly string[] = Object.keys(CONTACT_FIELDS);

const customerRule = object(CONTACT_FIELDS);
const listContactRule = object(CONTACT_FIELDS, { required: ["email"] });

/** A body that follows the rules of `CONTACT_FIELDS`. */
export type V1Contact = Omit<ContactFields, "custom_properties" | "consents" | "other_fields"> & {
  custom_properties?: Record<string, unknown>;
};

/** `POST /api/v1/customer/create`: "It must contain `email` or `phone`." */
export function checkV1Contact(body: unknown): asserts body is V1Contact {
  require(body, (value, path, problems) => {
    customerRule(value, path, problems);
    if (isObject(value) && !Object.hasOwn(value, "email") && !Object.hasOwn(value, "phone")) {
      problems.push({ path: "email", message: "email or phone is required" });
    }
  }, { section: CONTACT_SECTION });
}

/** `POST /api/v1/contact-groups/{listId}/contacts`: flat, no array, and with an `email`. */
export function checkV1ListContact(body: unknown): asserts body is V1Contact & { email: string } {
  require(body, listContactRule, { section: CONTACT_SECTION });
}

/** The stored fields of a v1 contact: the country as a code, custom properties as strings. */
export function contactFieldsOf(
  { custom_properties, country, ...fields }: V1Contact,
  variants: Pick<MockVariants, "unknownCountry" | "doubleOptIn">,
): ContactFields {
  const stored: ContactFields = { ...fields };
  const code = country === undefined ? undefined : storedCountry(country, variants.unknownCountry);
  if (code !== undefined) stored.country = code;
  if (custom_properties !== undefined) stored.custom_properties = storedProperties(custom_properties);
  const isPending =
    fields.double_opt_in === true &&
    fields.email_opt_in === "SUBSCRIBED" &&
    variants.doubleOptIn === "pending";
  if (isPending) stored.email_opt_in = "NON_SUBSCRIBED";
  return stored;
}

/** "normalized to a country code on write". */
export function storedCountry(country: string, unknown: MockVariants["unknownCountry"]): string | undefined {
  const code = countryCodeOf(country);
  if (code !== undefined || unknown === "dropped") return code;
  if (unknown === "kept") return country;
  throw refusalOf("country", "country is not a known country", {
    section: CONTACT_SECTION,
    variant: "unknownCountry",
  });
}

/** "Custom property value rules", 1 to 3. */
function storedProperties(properties: Record<string, unknown>): Record<string, string> {
  const strings = Object.entries(properties).map(([key, value]): [string, string] => [
    key,
    // Safe: JSON that is no object is a string, a number or a boolean; `customProperty` has refused null.
    typeof value === "object"
      ? Object.prototype.toString.call(value)
      : String(value as string | number | boolean),
  ]);
  return Object.fromEntries(strings.filter(([, value]) => value.trim() !== ""));
}

/** A body that follows the rules of an event. */
export interface V1Event {
  eventName: string;
  uniqueIdentifier?: string;
  contact?: Record<string, unknown> & { email?: string };
  contactUUID?: string;
  eventData?: Record<string, unknown>;
}

/** The keys of an event's `contact` that name a person. */
export function eventNames(
  { contact = {} }: V1Event,
  { eventContactKeys }: Pick<MockVariants, "eventContactKeys">,
): Pick<ContactFields, "email" | "phone" | "external_id"> {
  const keys: readonly string[] = ["email", ...eventContactKeys];
  // Safe: the rules of an event have checked these keys.
  return Object.fromEntries(Object.entries(contact).filter(([key]) => keys.includes(key)));
}

/** `POST /api/v1/events`. The required fields are not shown: this is the mock's stance. */
export function checkV1Event(body: unknown, variants: MockVariants): asserts body is V1Event {
  const { contactUuidPlace, isUniqueIdentifierRequired, eventMaxLength: max, eventContactKeys } = variants;
  const nameKeys = ["email", ...eventContactKeys] as const;
  const names = {
    ...Object.fromEntries(nameKeys.map((key) => [key, CONTACT_FIELDS[key]])),
    ...(contactUuidPlace !== "root" && { contactUUID: nonEmptyString }),
  };
  const contact = object(names, { unknownKeys: anythingButNull });
  const text = string({ max });
  const datum: Rule = (value, path, problems) =>
    typeof value === "string" ? text(value, path, problems) : anythingButNull(value, path, problems);
  const atRoot = contactUuidPlace === "contact" ? {} : { contactUUID: nonEmptyString };
  const event = object(
    {
      eventName: string({ min: 1, max }),
      uniqueIdentifier: string({ min: 1, max }),
      contact,
      eventData: mapOf(datum),
      ...atRoot,
    },
    { required: ["eventName", ...(isUniqueIdentifierRequired ? ["uniqueIdentifier"] : [])] },
  );
  require(body, (value, path, problems) => {
    event(value, path, problems);
    if (!isObject(value)) return;
    const sent = isObject(value["contact"]) ? value["contact"] : {};
    const isNamed = Object.keys(names).some((key) => Object.hasOwn(sent, key));
    const isNamedAtRoot = Object.keys(atRoot).some((key) => Object.hasOwn(value, key));
    if (!isNamed && !isNamedAtRoot)
      problems.push({
        path: "contact",
        message: `contact must have ${["an email", ...eventContactKeys].join(", ")} or a contactUUID`,
      });
  }, { section: "Custom event" });
}
