import {
  anythingButNull,
  arrayOf,
  boolean,
  enumOf,
  isObject,
  note,
  object,
  type Problem,
  type Rule,
  string,
  stringThat,
  that,
} from "../json-rules.ts";
import { require } from "../refusal.ts";
import { isCountryCode, isDateTime, isDay, isEmail, isIpAddress } from "../string-formats.ts";

/** A body that follows the rules of a v2 contact; other fields are passed on. */
export interface V2Contact extends Record<string, unknown> {
  firstName: string;
  lastName?: string;
  birthDate?: string;
  city?: string;
  countryCode?: string;
  country?: string;
  provinceCode?: string;
  state?: string;
  postalCode?: string;
  gender?: string;
  createdAt?: string;
  triggerWelcomeEmail?: boolean;
  listIds: string[];
  identifiers: V2Identifier[];
}

export interface V2Identifier {
  type: "email" | "phone";
  id: string | number;
  channels: { email?: { status: string }; phone?: { status: string } };
  consent: { createdAt: string; ip: string; source: string };
}

/** "v2 contact", "v2 identifier object"; lengths are not shown, `maxLength` is the mock's option. */
export function checkV2Contact(body: unknown, maxLength: number): asserts body is V2Contact {
  const anyString = string({ max: maxLength });
  require(body, (value, path, problems) => {
    contactRule(anyString)(value, path, problems);
    if (isObject(value) && Array.isArray(value["identifiers"])) checkChannels(value["identifiers"], problems);
  }, { section: "v2 contact" });
}

/** "Fields that are not in the table" may hold anything but null. */
const withOthers = (fields: Readonly<Record<string, Rule>>, required: readonly string[] = []): Rule =>
  object(fields, { required, unknownKeys: anythingButNull });

function contactRule(anyString: Rule): Rule {
  const fields = {
    firstName: anyString,
    lastName: anyString,
    birthDate: stringThat(isDay, "must be a day of the calendar, YYYY-MM-DD"),
    city: anyString,
    countryCode: stringThat(isCountryCode, "must be a two-letter country code"),
    country: anyString,
    provinceCode: anyString,
    state: anyString,
    postalCode: anyString,
    gender: anyString,
    createdAt: stringThat(
      (value) => isDay(value) || isDateTime(value),
      "must be an ISO 8601 day or date-time",
    ),
    triggerWelcomeEmail: boolean,
    listIds: arrayOf(anyString),
    identifiers: arrayOf(identifierRule(anyString), { min: 1 }),
  };
  return withOthers(fields, ["firstName", "listIds", "identifiers"]);
}

function identifierRule(anyString: Rule): Rule {
  const status = withOthers({ status: anyString }, ["status"]);
  const consent = {
    createdAt: stringThat(isDateTime, "must be an ISO 8601 date-time"),
    ip: stringThat(isIpAddress, "must be an IPv4 or IPv6 address"),
    source: anyString,
  };
  const fields = {
    type: enumOf("email", "phone"),
    id: that(
      (value) => typeof value === "string" || typeof value === "number",
      "must be a string or a number",
    ),
    channels: withOthers({ email: status, phone: status }),
    consent: withOthers(consent, Object.keys(consent)),
  };
  const identifier = withOthers(fields, Object.keys(fields));
  return (value, path, problems) => {
    identifier(value, path, problems);
    if (!isObject(value) || value["type"] !== "email" || value["id"] === undefined) return;
    const isAddress = typeof value["id"] === "string" && isEmail(value["id"]);
    if (!isAddress) note(problems, `${path}.id`, "must be an email address");
  };
}

/** "The `email` key is required when no phone identifier is given; the `phone` key … when no email identifier is given." */
function checkChannels(identifiers: readonly unknown[], problems: Problem[]): void {
  const hasType = (type: string) =>
    identifiers.some((identifier) => isObject(identifier) && identifier["type"] === type);
  const missing = (["phone", "email"] as const).filter((type) => !hasType(type));
  const needed = missing.map((type) => (type === "phone" ? "email" : "phone"));
  for (const [index, identifier] of identifiers.entries()) {
    const channels = isObject(identifier) ? identifier["channels"] : undefined;
    if (!isObject(channels)) continue;
    for (const key of needed) {
      if (!Object.hasOwn(channels, key))
        note(problems, `identifiers[${index}].channels.${key}`, "is required");
    }
  }
}
