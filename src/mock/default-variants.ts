import {
  boolean,
  checkValues,
  count,
  duration,
  enumOf,
  fromOne,
  isBaseUrl,
  isObject,
  type OptionRule,
} from "./check.ts";
import { type MockVariants, OPERATIONS } from "./variants.ts";

const orFunction = ({ accepts, expectation }: OptionRule): OptionRule => ({
  accepts: (value) => typeof value === "function" || accepts(value),
  expectation: `${expectation}, or a function`,
});
const status: OptionRule = {
  // A status below 200 is not a final response.
  accepts: (value) => Number.isInteger(value) && Number(value) >= 200 && Number(value) <= 599,
  expectation: "a status from 200 to 599",
};
const baseUrl: OptionRule = { accepts: isBaseUrl, expectation: "a base URL" };
const json: OptionRule = { accepts: (value) => typeof value !== "function", expectation: "JSON" };
const operationsByKey: OptionRule = {
  accepts: (value) => isObject(value) && Object.values(value).every(isOperations),
  expectation: "an object with an array of operations for each key",
};
const optIn = enumOf("kept", "SUBSCRIBED", "NON_SUBSCRIBED");

/** The default and the permitted values of each variant. */
const VARIANTS: {
  readonly [Name in keyof MockVariants]: readonly [byDefault: MockVariants[Name], rule: OptionRule];
} = {
  baseUrl: ["https://audience-mock.example", baseUrl],
  baseUrlV2: ["https://audience-mock-v2.example", baseUrl],
  v1List: ["data", orFunction(enumOf("data", "array", "data-key", "root-key"))],
  v1Paging: ["links", enumOf("links", "meta", "pagination", "totals", "none")],
  v1PagingCase: ["snake", enumOf("snake", "camel")],
  v1ListedCustomer: ["resource", enumOf("resource", "envelope", "flat")],
  v1ListedGroup: ["flat", enumOf("flat", "resource")],
  v1Group: ["flat", enumOf("flat", "data", "resource")],
  unknownGroupStatus: [404, status],
  profileAttributes: ["all", enumOf("all", "documented")],
  v1Error: [
    "message",
    orFunction(
      enumOf("message", "error", "error-object", "errors", "json-api", "status-code", "text", "empty"),
    ),
  ],
  rateLimitStatus: [429, status],
  rateLimitBody: ["error", orFunction(enumOf("error", "html"))],
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
  emailOptInOmitted: ["kept", optIn],
  phoneOptInOmitted: ["kept", optIn],
  doubleOptIn: ["recorded", enumOf("recorded", "pending")],
  customProperties: ["merged", enumOf("merged", "replaced")],
  emailCase: ["insensitive", enumOf("insensitive", "sensitive")],
  matchFirst: ["email", enumOf("email", "phone")],
  unknownCountry: ["kept", enumOf("kept", "dropped", "refused")],
  unknownListWritesContact: [true, boolean],
  canAddToSegment: [false, boolean],
  v1NeedsAppId: [false, boolean],
  permissions: [{}, operationsByKey],
  v2DefaultLimit: [20, fromOne],
  v2MaxLimit: [100, fromOne],
  v2MaxLength: [Number.POSITIVE_INFINITY, count],
  v2OtherStatus: ["stored", enumOf("stored", "ignored", "refused")],
  canV2Resubscribe: [true, boolean],
  v2UnknownList: ["ignored", enumOf("ignored", "refused")],
  v2ListIds: ["added", enumOf("added", "replaced")],
  welcomeEmail: ["every-request", enumOf("every-request", "once")],
  webhookMethod: ["POST", enumOf("POST", "PUT", "PATCH")],
  webhookBody: ["flat", orFunction(enumOf("flat", "envelope", "contact"))],
  webhookAttempts: [1, fromOne],
  webhookTimeoutMs: [5_000, duration],
};

/** The chosen variants over the defaults. */
export function variantsOf(chosen: Partial<MockVariants>): MockVariants {
  const rules = Object.entries(VARIANTS).map(([name, [, rule]]) => [name, rule]);
  checkValues("variants", chosen, Object.fromEntries(rules) as Record<string, OptionRule>);
  // For `eventBody` undefined means no body; for any other variant it means the default.
  const given = Object.entries(chosen).filter(([name, value]) => value !== undefined || name === "eventBody");
  const defaults = Object.entries(VARIANTS).map(([name, [byDefault]]) => [name, byDefault]);
  // Safe: each variant has its default.
  return { ...(Object.fromEntries(defaults) as MockVariants), ...Object.fromEntries(given) };
}

function isOperations(value: unknown): boolean {
  return Array.isArray(value) && value.every((name) => OPERATIONS.some((each) => each === name));
}
