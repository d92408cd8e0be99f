import { isAddress } from "./address.ts";
import { checkNames } from "./check-names.ts";
import type { MockOrganizationSeed } from "./seed.ts";
import { DEFAULT_VARIANTS, type MockVariants, OPERATIONS } from "./variants.ts";

interface Rule {
  readonly holds: (value: unknown) => boolean;
  readonly words: string;
}

const oneOf = (...choices: readonly string[]): Rule => ({
  holds: (value) => choices.some((choice) => choice === value),
  words: `one of ${choices.join(", ")}`,
});
const orFunction = ({ holds, words }: Rule): Rule => ({
  holds: (value) => typeof value === "function" || holds(value),
  words: `${words}, or a function`,
});

const yesOrNo: Rule = { holds: (value) => typeof value === "boolean", words: "true or false" };
const status: Rule = {
  // What is below is no answer yet.
  holds: (value) => Number.isInteger(value) && Number(value) >= 200 && Number(value) <= 599,
  words: "a status from 200 to 599",
};
const pageSize: Rule = {
  holds: (value) => Number.isInteger(value) && Number(value) >= 1,
  words: "a whole number from 1",
};
const length: Rule = {
  holds: (value) => typeof value === "number" && value >= 0,
  words: "a number from 0",
};
const address: Rule = { holds: isAddress, words: "the address of a server" };
const operationsByKey: Rule = {
  holds: (value) =>
    typeof value === "object" &&
    value !== null &&
    Object.values(value).every(
      (allowed) =>
        Array.isArray(allowed) && allowed.every((name: unknown) => OPERATIONS.some((each) => each === name)),
    ),
  words: "for each key an array of operations",
};
const omitted = oneOf("kept", "SUBSCRIBED", "NON_SUBSCRIBED");

const rules: Record<keyof MockVariants, Rule> = {
  baseUrl: address,
  baseUrlV2: address,
  v1List: orFunction(oneOf("data", "array", "data-key", "root-key")),
  v1Paging: oneOf("links", "meta", "pagination", "totals", "none"),
  v1PagingCase: oneOf("snake", "camel"),
  v1ListedCustomer: oneOf("resource", "envelope", "flat"),
  v1ListedGroup: oneOf("flat", "resource"),
  v1Group: oneOf("flat", "data", "resource"),
  unknownGroupStatus: status,
  profileAttributes: oneOf("all", "documented"),
  v1Error: orFunction(
    oneOf("message", "error", "error-object", "errors", "json-api", "status-code", "text", "empty"),
  ),
  rateLimitStatus: status,
  eventStatus: status,
  eventBody: { holds: (value) => typeof value !== "function", words: "JSON" },
  contactUuidPlace: oneOf("contact", "root", "either"),
  unknownContactUuidStatus: status,
  isUniqueIdentifierRequired: yesOrNo,
  emailOptInOmitted: omitted,
  phoneOptInOmitted: omitted,
  doubleOptIn: oneOf("recorded", "pending"),
  customProperties: oneOf("merged", "replaced"),
  emailCase: oneOf("insensitive", "sensitive"),
  matchFirst: oneOf("email", "phone"),
  unknownCountry: oneOf("kept", "dropped", "refused"),
  unknownListWritesContact: yesOrNo,
  canAddToSegment: yesOrNo,
  v1NeedsAppId: yesOrNo,
  permissions: operationsByKey,
  v2DefaultLimit: pageSize,
  v2MaxLimit: pageSize,
  v2MaxLength: length,
  v2OtherStatus: oneOf("stored", "ignored", "refused"),
  canV2Resubscribe: yesOrNo,
  v2UnknownList: oneOf("ignored", "refused"),
  v2ListIds: oneOf("added", "replaced"),
  welcomeEmail: oneOf("every-request", "once"),
};

/** The variants chosen, over the defaults. A typing error in one would be taken for a default unheard. */
export function variantsOf(chosen: Partial<MockVariants>): MockVariants {
  checkNames("variants", chosen, Object.keys(rules));
  // An `eventBody` that is undefined means none; of any other variant it means the default.
  const given = Object.entries(chosen).filter(([name, value]) => value !== undefined || name === "eventBody");
  for (const [name, value] of given) {
    // True: it is one of their names.
    const { holds, words } = rules[name as keyof MockVariants];
    if (!holds(value)) throw new TypeError(`variants: ${name} must be ${words}`);
  }
  return { ...DEFAULT_VARIANTS, ...Object.fromEntries(given) };
}

/** A key that nobody has would limit nobody. */
export function checkPermissions(
  permissions: MockVariants["permissions"],
  seeds: readonly MockOrganizationSeed[],
): void {
  const keys = new Set(seeds.flatMap(({ apiKeys, apiKeysV2 = [] }) => [...apiKeys, ...apiKeysV2]));
  const unknown = Object.keys(permissions).find((key) => !keys.has(key));
  if (unknown === undefined) return;
  const there = [...keys].join(", ");
  throw new TypeError(`variants: permissions: no organization has the key "${unknown}"; there are: ${there}`);
}
