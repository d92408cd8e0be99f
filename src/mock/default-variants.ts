import {
  arrayOf,
  baseUrl,
  boolean,
  countFrom,
  duration,
  enumOf,
  fromOne,
  mapOf,
  object,
  type Rule,
  that,
} from "./json-rules.ts";
import { OPERATIONS } from "./operations.ts";
import type { MockVariants, Optional } from "./variants.ts";

const enumOrFunction = (...choices: readonly string[]): Rule =>
  that(
    (value) => typeof value === "function" || choices.some((choice) => choice === value),
    `must be one of ${choices.join(", ")}, or a function`,
  );
const status = that(
  // A status below 200 is not a final response.
  (value) => Number.isInteger(value) && Number(value) >= 200 && Number(value) <= 599,
  "must be a status from 200 to 599",
);
const json = that((value) => typeof value !== "function", "must be JSON");
const optIn = enumOf("kept", "SUBSCRIBED", "NON_SUBSCRIBED");

/** The default and the permitted values of each variant. */
const VARIANTS: {
  readonly [Name in keyof MockVariants]: readonly [byDefault: MockVariants[Name], rule: Rule];
} = {
  baseUrl: ["https://audience-mock.example", baseUrl],
  baseUrlV2: ["https://audience-mock-v2.example", baseUrl],
  v1List: ["data", enumOrFunction("data", "array", "data-key", "root-key")],
  v1Paging: ["links", enumOf("links", "meta", "pagination", "totals", "none")],
  v1PagingCase: ["snake", enumOf("snake", "camel")],
  v1ListedCustomer: ["resource", enumOf("resource", "envelope", "flat")],
  v1CustomerOrder: ["created", enumOf("created", "newest", "updated")],
  v1ListedConsents: [true, boolean],
  v1ListedGroup: ["flat", enumOf("flat", "resource")],
  v1Group: ["flat", enumOf("flat", "data", "resource")],
  unknownGroupStatus: [404, status],
  profileAttributes: ["all", enumOf("all", "documented")],
  v1Error: [
    "message",
    enumOrFunction("message", "error", "error-object", "errors", "json-api", "status-code", "text", "empty"),
  ],
  rateLimitStatus: [429, status],
  rateLimitBody: ["error", enumOrFunction("error", "html")],
  rateLimitHeader: [
    "retry-after",
    enumOf(
      "retry-after",
      "ratelimit-reset",
      "x-ratelimit-retry-after",
      "x-ratelimit-reset",
      "x-rate-limit-reset",
    ),
  ],
  eventStatus: [200, status],
  eventBody: [{ status: "accepted" }, json],
  contactUuidPlace: ["either", enumOf("contact", "root", "either")],
  unknownContactUuidStatus: [404, status],
  isUniqueIdentifierRequired: [false, boolean],
  eventMaxLength: [Number.POSITIVE_INFINITY, countFrom(0)],
  eventContactKeys: [[], arrayOf(enumOf("phone", "external_id"))],
  emailOptInOmitted: ["kept", optIn],
  phoneOptInOmitted: ["kept", optIn],
  canV1Resubscribe: [true, boolean],
  suppressionOmitted: ["kept", enumOf("kept", "lifted")],
  doubleOptIn: ["recorded", enumOf("recorded", "pending")],
  customProperties: ["merged", enumOf("merged", "replaced")],
  emailCase: ["insensitive", enumOf("insensitive", "sensitive")],
  matchFirst: ["email", enumOf("email", "phone")],
  unknownCountry: ["kept", enumOf("kept", "dropped", "refused")],
  unknownListWritesContact: [true, boolean],
  canAddToSegment: [false, boolean],
  v1NeedsAppId: [false, boolean],
  permissions: [{}, mapOf(arrayOf(enumOf(...OPERATIONS)))],
  v2DefaultLimit: [20, fromOne],
  v2MaxLimit: [100, fromOne],
  v2MaxLength: [Number.POSITIVE_INFINITY, countFrom(0)],
  v2OtherStatus: ["stored", enumOf("stored", "ignored", "refused")],
  canV2Resubscribe: [true, boolean],
  v2UnknownList: ["ignored", enumOf("ignored", "refused")],
  v2ListIds: ["added", enumOf("added", "replaced")],
  welcomeEmail: ["every-request", enumOf("every-request", "once")],
  webhookMethod: ["POST", enumOf("POST", "PUT", "PATCH")],
  webhookBody: ["flat", enumOrFunction("flat", "envelope", "contact")],
  webhookAttempts: [1, fromOne],
  webhookTimeoutMs: [5_000, duration],
};

export const variantsRule = object(
  Object.fromEntries(Object.entries(VARIANTS).map(([name, [, rule]]) => [name, rule])),
);

/** The chosen variants over the defaults. */
export function variantsOf(chosen: Optional<MockVariants>): MockVariants {
  const defaults = Object.entries(VARIANTS).map(([name, [byDefault]]) => [name, byDefault]);
  // Safe: each variant has its default, and the copy of the options holds no other that is undefined.
  return { ...Object.fromEntries(defaults), ...chosen } as MockVariants;
}
