import * as z from "zod";

import { crossFieldRule, type Breach } from "../../fields/cross-field-rule.ts";
import { day } from "../../fields/day.ts";
import { dayOrDateTime } from "../../fields/date-time.ts";
import { looseFields } from "../../fields/field-object.ts";
import { filledListOf, listOf } from "../../fields/list.ts";
import { text, yesOrNo } from "../../fields/text.ts";
import { v2IdentifierSchema } from "./identifier.ts";

/**
 * The fields of a v2 contact, without the rule on channels: for `.extend`, `.pick`, `.omit` and `.partial`
 * ("v2 contact"). Any other field is passed on.
 */
export const v2ContactFieldsSchema = looseFields({
  firstName: text(),
  lastName: text().optional(),
  /** Day of birth, `YYYY-MM-DD`. Text only: a `Date` has a time zone. */
  birthDate: day().optional(),
  city: text().optional(),
  /** Two letters, in any case. */
  countryCode: text()
    .regex(/^[A-Za-z]{2}$/, { error: "must be a country code of two letters" })
    .optional(),
  /** Full name of the country. */
  country: text().optional(),
  /** Code of the province or state. */
  provinceCode: text().optional(),
  /** Full name of the state or province. */
  state: text().optional(),
  postalCode: text().optional(),
  /** Typically a single letter, such as `m` or `f`; the set is open. */
  gender: text().optional(),
  /** When the contact came to be: an ISO 8601 day or date-time, or a `Date`; now, where left out. */
  createdAt: dayOrDateTime().optional(),
  /** Whether to start the welcome e-mails, if any are configured; default `false`. */
  triggerWelcomeEmail: yesOrNo().optional(),
  /** Ids of the lists that the contact is subscribed to; may be empty. */
  listIds: listOf(text()),
  /** At least one. Creating a contact needs an e-mail identifier; only the service knows whether it exists. */
  identifiers: filledListOf(v2IdentifierSchema),
});

/** A v2 contact, as `v2.contacts.upsert` sends it ("v2 contact", "v2 identifier object"). */
export const v2ContactSchema = v2ContactFieldsSchema.check(
  crossFieldRule(({ identifiers }) => (Array.isArray(identifiers) ? missingChannels(identifiers) : [])),
);

/** A v2 contact, as `v2.contacts.upsert` takes it. */
export type V2Contact = z.infer<typeof v2ContactSchema>;

/** The answer to `POST /v2/contacts`: `status` is `true`, and whatever else the service gives is kept. */
export const v2UpsertResultSchema = z.looseObject({ status: z.literal(true) });

/** The answer to a v2 upsert. */
export type V2UpsertResult = z.infer<typeof v2UpsertResultSchema>;

/** Without a phone identifier each identifier's `channels` needs `email`; without an e-mail identifier, `phone`. */
function missingChannels(identifiers: readonly unknown[]): Breach[] {
  const types = identifiers.map((identifier) => read(identifier, "type"));
  // Where a type is wrong, what the rule asks for is not known yet.
  if (!types.every((type) => type === "email" || type === "phone")) return [];
  const missing: Breach[] = [];
  identifiers.forEach((identifier, index) => {
    const channels = read(identifier, "channels");
    if (typeof channels !== "object" || channels === null || Array.isArray(channels)) return;
    for (const [channel, other] of channelPairs) {
      if (types.includes(other) || read(channels, channel) !== undefined) continue;
      const message = `required: the contact has no ${other} identifier, so each identifier's channels need ${channel}`;
      missing.push({ path: ["identifiers", index, "channels", channel], message });
    }
  });
  return missing;
}

const channelPairs = [
  ["email", "phone"],
  ["phone", "email"],
] as const;

function read(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}
