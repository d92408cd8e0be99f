import { isObject } from "../check.ts";
import { isCountryCode, isDateTime, isDay, isEmail, isIpAddress } from "../formats.ts";
import {
  anythingButNull,
  arrayOf,
  boolean,
  object,
  enumOf,
  type Problem,
  require,
  type Rule,
  string,
  stringThat,
} from "../rules.ts";

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
  });
}

function contactRule(anyString: Rule): Rule {
  return object({
    fields: {
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
    },
    required: ["firstName", "listIds", "identifiers"],
    unknownKeys: anythingButNull,
  });
}

function identifierRule(anyString: Rule): Rule {
  const status = object({
    fields: { status: anyString },
    required: ["status"],
    unknownKeys: anythingButNull,
  });
  const consent = object({
    fields: {
      createdAt: stringThat(isDateTime, "must be an ISO 8601 date-time"),
      ip: stringThat(isIpAddress, "must be an IPv4 or IPv6 address"),
      source: anyString,
    },
    required: ["createdAt", "ip", "source"],
    unknownKeys: anythingButNull,
  });
  const identifier = object({
    fields: {
      type: enumOf("email", "phone"),
      id: stringOrNumber,
      channels: object({ fields: { email: status, phone: status }, unknownKeys: anythingButNull }),
      consent,
    },
    required: ["type", "id", "channels", "consent"],
    unknownKeys: anythingButNull,
  });
  return (value, path, problems) => {
    identifier(value, path, problems);
    if (!isObject(value) || value["type"] !== "email" || value["id"] === undefined) return;
    const isAddress = typeof value["id"] === "string" && isEmail(value["id"]);
    if (!isAddress) problems.push({ path: `${path}.id`, message: `${path}.id must be an email address` });
  };
}

const stringOrNumber: Rule = (value, path, problems) => {
  if (typeof value !== "string" && typeof value !== "number")
    problems.push({ path, message: `${path} must be a string or a number` });
};

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
      const path = `identifiers.${index}.channels.${key}`;
      if (!Object.hasOwn(channels, key)) problems.push({ path, message: `${path} is required` });
    }
  }
}
