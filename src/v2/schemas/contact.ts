import { isArray } from "../../fields/is-array.ts";
import { dayOrDateTime } from "../../fields/date-time.ts";
import { pattern, text, yesOrNo } from "../../fields/text.ts";
import { answerFields, looseFields, withRule } from "../../fields/objects.ts";
import { isObject, isRecord } from "../../is-object.ts";
import { free } from "../../fields/free.ts";
import { optional } from "../../fields/field.ts";
import { filledListOf, listOf } from "../../fields/list.ts";
import { v2Identifier, type V2Identifier } from "./identifier.ts";
import { day } from "../../fields/day.ts";
import { crossFieldRule, type Breach } from "../../fields/cross-field-rule.ts";

/** A v2 contact, as `v2.contacts.upsert` takes it ("v2 contact", "v2 identifier object"). Any other field is passed on. */
export type V2Contact = {
  /** First name. */
  firstName: string;
  /** Last name. */
  lastName?: string | undefined;
  /** Day of birth, `YYYY-MM-DD`. Text only: a `Date` has a time zone. */
  birthDate?: string | undefined;
  /** Name of the city. */
  city?: string | undefined;
  /** Two letters, in any case. */
  countryCode?: string | undefined;
  /** Full name of the country. */
  country?: string | undefined;
  /** Code of the province or state. */
  provinceCode?: string | undefined;
  /** Full name of the state or province. */
  state?: string | undefined;
  /** Postal code. */
  postalCode?: string | undefined;
  /** Typically a single letter, such as `m` or `f`; the set is open. */
  gender?: string | undefined;
  /** When the contact came to be: an ISO 8601 day or date-time, or a `Date`; now, where left out. */
  createdAt?: string | Date | undefined;
  /** Whether to start the welcome e-mails, if any are configured; default `false`. */
  triggerWelcomeEmail?: boolean | undefined;
  /** Ids of the lists that the contact is subscribed to; may be empty. */
  listIds: string[];
  /** At least one. Creating a contact needs an e-mail identifier; only the service knows whether it exists. */
  identifiers: V2Identifier[];
  [field: string]: unknown;
};

/** The answer to a v2 upsert: `status` is `true`, and whatever else the service gives is kept. */
export type V2UpsertResult = {
  /** Anything else in its place is an `UnexpectedResponseError`. */
  status: true;
  [field: string]: unknown;
};

/**
 * The fields of a v2 contact, without the rule on channels: for `.extend`, `.pick`, `.omit` and `.partial`
 * ("v2 contact"). Any other field is passed on.
 */
export const v2ContactFields = looseFields({
  firstName: text(),
  lastName: optional(text()),
  birthDate: optional(day()),
  city: optional(text()),
  countryCode: optional(text([pattern(/^[A-Za-z]{2}$/, "must be a country code of two letters")])),
  country: optional(text()),
  provinceCode: optional(text()),
  state: optional(text()),
  postalCode: optional(text()),
  gender: optional(text()),
  createdAt: optional(dayOrDateTime()),
  triggerWelcomeEmail: optional(yesOrNo()),
  listIds: listOf(text()),
  identifiers: filledListOf(v2Identifier),
});

/** A v2 contact, as `v2.contacts.upsert` sends it ("v2 contact", "v2 identifier object"). */
export const v2Contact = withRule(
  v2ContactFields,
  crossFieldRule(({ identifiers }) => (isArray(identifiers) ? missingChannels(identifiers) : [])),
);

/** The answer to `POST /v2/contacts`. */
export const v2UpsertResult = answerFields({
  status: free<true>(
    ({ value: input, issues }) => {
      if (input !== true)
        issues.push({ code: "invalid_value", values: [true], input, message: "must be true" });
    },
    { const: true },
  ),
});

/** Without a phone identifier each identifier's `channels` needs `email`; without an e-mail identifier, `phone`. */
function missingChannels(identifiers: readonly unknown[]): Breach[] {
  const types = identifiers.map((identifier) => read(identifier, "type"));
  // Where a type is wrong, what the rule asks for is not known yet.
  if (!types.every((type) => type === "email" || type === "phone")) return [];
  const missing: Breach[] = [];
  identifiers.forEach((identifier, index) => {
    const channels = read(identifier, "channels");
    if (!isRecord(channels)) return;
    for (const [channel, other] of channelPairs) {
      if (types.includes(other) || read(channels, channel) !== undefined) continue;
      const message = `required: the contact has no ${other} identifier`;
      missing.push({ path: ["identifiers", index, "channels", channel], message });
    }
  });
  return missing;
}

const channelPairs = [
  ["email", "phone"],
  ["phone", "email"],
] as const;

/** Of a value as it came, where something else is wrong with it: one that throws when it is read has its issue already. */
function read(value: unknown, key: string): unknown {
  try {
    return isObject(value) ? Reflect.get(value, key) : undefined;
  } catch {
    return undefined;
  }
}
