import { isBaseUrl } from "./base-url.ts";
import { checkNames } from "./check-names.ts";
import type { MockOrganizationSeed } from "./seed.ts";
import { DEFAULT_VARIANTS, type MockVariants, OPERATIONS } from "./variants.ts";

interface Rule {
  readonly accepts: (value: unknown) => boolean;
  readonly expectation: string;
}

const enumOf = (...choices: readonly string[]): Rule => ({
  accepts: (value) => choices.some((choice) => choice === value),
  expectation: `one of ${choices.join(", ")}`,
});
const orFunction = ({ accepts, expectation }: Rule): Rule => ({
  accepts: (value) => typeof value === "function" || accepts(value),
  expectation: `${expectation}, or a function`,
});

const boolean: Rule = { accepts: (value) => typeof value === "boolean", expectation: "a boolean" };
const status: Rule = {
  // A status below 200 is not a final response.
  accepts: (value) => Number.isInteger(value) && Number(value) >= 200 && Number(value) <= 599,
  expectation: "a status from 200 to 599",
};
const pageSize: Rule = {
  accepts: (value) => Number.isInteger(value) && Number(value) >= 1,
  expectation: "an integer from 1",
};
const length: Rule = {
  accepts: (value) => typeof value === "number" && value >= 0,
  expectation: "a number from 0",
};
const baseUrl: Rule = { accepts: isBaseUrl, expectation: "a base URL" };
const operationsByKey: Rule = {
  accepts: (value) =>
    typeof value === "object" &&
    value !== null &&
    Object.values(value).every(
      (allowed) =>
        Array.isArray(allowed) && allowed.every((name: unknown) => OPERATIONS.some((each) => each === name)),
    ),
  expectation: "an object with an array of operations for each key",
};
const omitted = enumOf("kept", "SUBSCRIBED", "NON_SUBSCRIBED");

const rules: Record<keyof MockVariants, Rule> = {
  baseUrl,
  baseUrlV2: baseUrl,
  v1List: orFunction(enumOf("data", "array", "data-key", "root-key")),
  v1Paging: enumOf("links", "meta", "pagination", "totals", "none"),
  v1PagingCase: enumOf("snake", "camel"),
  v1ListedCustomer: enumOf("resource", "envelope", "flat"),
  v1ListedGroup: enumOf("flat", "resource"),
  v1Group: enumOf("flat", "data", "resource"),
  unknownGroupStatus: status,
  profileAttributes: enumOf("all", "documented"),
  v1Error: orFunction(
    enumOf("message", "error", "error-object", "errors", "json-api", "status-code", "text", "empty"),
  ),
  rateLimitStatus: status,
  eventStatus: status,
  eventBody: { accepts: (value) => typeof value !== "function", expectation: "JSON" },
  contactUuidPlace: enumOf("contact", "root", "either"),
  unknownContactUuidStatus: status,
  isUniqueIdentifierRequired: boolean,
  emailOptInOmitted: omitted,
  phoneOptInOmitted: omitted,
  doubleOptIn: enumOf("recorded", "pending"),
  customProperties: enumOf("merged", "replaced"),
  emailCase: enumOf("insensitive", "sensitive"),
  matchFirst: enumOf("email", "phone"),
  unknownCountry: enumOf("kept", "dropped", "refused"),
  unknownListWritesContact: boolean,
  canAddToSegment: boolean,
  v1NeedsAppId: boolean,
  permissions: operationsByKey,
  v2DefaultLimit: pageSize,
  v2MaxLimit: pageSize,
  v2MaxLength: length,
  v2OtherStatus: enumOf("stored", "ignored", "refused"),
  canV2Resubscribe: boolean,
  v2UnknownList: enumOf("ignored", "refused"),
  v2ListIds: enumOf("added", "replaced"),
  welcomeEmail: enumOf("every-request", "once"),
};

/** The chosen variants over the defaults. */
export function variantsOf(chosen: Partial<MockVariants>): MockVariants {
  checkNames("variants", chosen, Object.keys(rules));
  // For `eventBody` undefined means no body; for any other variant it means the default.
  const given = Object.entries(chosen).filter(([name, value]) => value !== undefined || name === "eventBody");
  for (const [name, value] of given) {
    // Safe: `checkNames` has refused other names.
    const { accepts, expectation } = rules[name as keyof MockVariants];
    if (!accepts(value)) throw new TypeError(`variants: ${name} must be ${expectation}`);
  }
  return { ...DEFAULT_VARIANTS, ...Object.fromEntries(given) };
}

/** Refuses permissions of an unknown key: they would have no effect. */
export function checkPermissions(
  permissions: MockVariants["permissions"],
  seeds: readonly MockOrganizationSeed[],
): void {
  const keys = new Set(seeds.flatMap(({ apiKeys, apiKeysV2 = [] }) => [...apiKeys, ...apiKeysV2]));
  const unknown = Object.keys(permissions).find((key) => !keys.has(key));
  if (unknown === undefined) return;
  const known = [...keys].join(", ");
  throw new TypeError(`variants: permissions: no organization has the key "${unknown}"; there are: ${known}`);
}
