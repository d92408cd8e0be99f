import {
  anyString,
  array,
  boolean,
  checkPlainObject,
  checkValues,
  enumOf,
  isNonEmptyString,
  isObject,
  nonEmptyString,
  number,
  object,
  type OptionRule,
} from "../check.ts";
import { isDateTime, isDay } from "../formats.ts";
import type { MockVariants } from "../variants.ts";
import type { MockContact, MockGroup } from "./organization-state.ts";

/** A contact at the start: the fields of a v1 contact, optionally its `id` and the ids of its lists. */
export type MockContactSeed = Partial<
  Omit<MockContact, "custom_properties" | "consents" | "other_fields">
> & {
  /** Numbers and booleans are stored as strings. */
  custom_properties?: Record<string, string | number | boolean>;
  /** The ids of its lists. No trigger fires for them. */
  lists?: readonly string[];
};

/** A list or segment at the start. Default `type`: `"LIST"`; default `created_at`: the time of the start. */
export type MockGroupSeed = Pick<MockGroup, "id" | "name"> &
  Partial<Pick<MockGroup, "type" | "description" | "created_at">>;

/** An automation: it runs when the event is recorded, or when a contact joins the list. */
export interface MockAutomation {
  /** The name of its runs. */
  name: string;
  /** The trigger: an event of this name, or joining this list of the organization. Not both. */
  on: { event: string } | { listId: string };
  /**
   * Its webhook step, which calls the endpoint at `url` with each run: `http:` or `https:`, on loopback, or anywhere with
   * `webhooks: "anywhere"`.
   */
  webhook?: { url: string };
}

/** One organization: "A key belongs to exactly one organization", so no key may stand in two. */
export interface MockOrganizationSeed {
  /** The id for `mock.organization`. */
  id: string;
  /** Keys of the v1 family, and of v2 without `apiKeysV2`. */
  apiKeys: readonly string[];
  /** Keys of the v2 family; default: `apiKeys`. */
  apiKeysV2?: readonly string[];
  /** The v2 family's app id. */
  appId: string;
  /** Lists and segments, each with a unique id; default none. */
  lists?: readonly MockGroupSeed[];
  /** Contacts; default none. */
  contacts?: readonly MockContactSeed[];
  /** Automations; default none. */
  automations?: readonly MockAutomation[];
  /** Whether a welcome email flow is configured; default `false`. */
  welcomeFlow?: boolean;
}

/** The default organization. Its keys are not secret. */
export const DEFAULT_ORGANIZATION: MockOrganizationSeed = {
  id: "mock-organization",
  apiKeys: ["mock-api-key-not-a-secret"],
  appId: "mock-app-id",
  lists: [
    {
      id: "mock-list",
      name: "Newsletter",
      type: "LIST",
      description: "Everyone who asked for the newsletter",
    },
    { id: "mock-segment", name: "Engaged in the last 30 days", type: "SEGMENT" },
  ],
};

/** No request could carry another value in a header. */
const isHeaderValue = (value: unknown): value is string =>
  isNonEmptyString(value) && /^[!-~]([ -~]*[!-~])?$/.test(value);
const headerValue = "printable ASCII without spaces around it, as a header carries it";
const keyArray: OptionRule = {
  accepts: (value) => Array.isArray(value) && value.length > 0 && value.every(isHeaderValue),
  expectation: `an array of at least one string that is ${headerValue}`,
};
const objects: OptionRule = {
  accepts: (value) => Array.isArray(value) && value.every(isObject),
  expectation: "an array of objects",
};
const time: OptionRule = {
  accepts: (value) => typeof value === "string" && (isDay(value) || isDateTime(value)),
  expectation: "an ISO 8601 day or date-time",
};

const ORGANIZATION_RULES: Record<keyof MockOrganizationSeed, OptionRule> = {
  id: nonEmptyString,
  apiKeys: keyArray,
  apiKeysV2: keyArray,
  appId: { accepts: isHeaderValue, expectation: `a string that is ${headerValue}` },
  lists: objects,
  contacts: objects,
  automations: objects,
  welcomeFlow: boolean,
};
const GROUP_RULES: Record<keyof MockGroupSeed, OptionRule> = {
  id: nonEmptyString,
  name: anyString,
  type: enumOf("LIST", "SEGMENT"),
  description: anyString,
  created_at: number,
};
/** The names that only a seed has. The rules of a v1 contact check the others. */
const CONTACT_RULES = { id: nonEmptyString, created: time, updated: time, lists: array };
const AUTOMATION_RULES: Record<keyof MockAutomation, OptionRule> = {
  name: anyString,
  on: object,
  webhook: object,
};
const TRIGGER_RULES = { event: nonEmptyString, listId: nonEmptyString };
const WEBHOOK_RULES = {
  url: {
    // `fetch` refuses a URL with a user or a password.
    accepts: (value: unknown) =>
      typeof value === "string" && /^https?:\/\/[^@/?#]+([/?#]|$)/i.test(value) && URL.canParse(value),
    expectation: "an http: or https: URL without a user or password",
  },
};

/** Checks the seeds: a seed from a JSON file is not checked by the compiler. */
export function checkSeeds(seeds: readonly MockOrganizationSeed[]): void {
  if (seeds.length === 0) throw new TypeError("organizations must be an array with at least one");
  for (const [index, seed] of seeds.entries()) checkOrganization(seed, `organizations[${index}]`);
  if (new Set(seeds.map((seed) => seed.id)).size < seeds.length)
    throw new TypeError("organizations: two have the same id");
}

function checkOrganization(seed: MockOrganizationSeed, path: string): void {
  checkPlainObject(path, seed);
  checkValues(path, seed, ORGANIZATION_RULES, { required: ["id", "apiKeys", "appId"] });
  const { lists = [], contacts = [], automations = [] } = seed;
  for (const [at, group] of lists.entries())
    checkValues(`${path}.lists[${at}]`, group, GROUP_RULES, { required: ["id", "name"] });
  for (const [at, { id, created, updated, lists: listIds }] of contacts.entries())
    checkValues(`${path}.contacts[${at}]`, { id, created, updated, lists: listIds }, CONTACT_RULES);
  const listIds = checkIds(lists, `${path}.lists`);
  checkIds(contacts, `${path}.contacts`);
  for (const [at, automation] of automations.entries())
    checkAutomation(automation, `${path}.automations[${at}]`, listIds);
}

function checkAutomation(automation: MockAutomation, path: string, listIds: ReadonlySet<string>): void {
  checkValues(path, automation, AUTOMATION_RULES, { required: ["name", "on"] });
  const { on, webhook } = automation;
  checkValues(`${path}.on`, on, TRIGGER_RULES);
  if ("event" in on === "listId" in on)
    throw new TypeError(`${path}.on must be { event } or { listId }; for both, write two automations`);
  if ("listId" in on && !listIds.has(on.listId))
    throw new TypeError(`${path}.on: the organization has no list "${on.listId}"`);
  if (webhook) checkValues(`${path}.webhook`, webhook, WEBHOOK_RULES, { required: ["url"] });
}

/** Refuses a receiver that is not on loopback: a test must not call a real endpoint by mistake. */
export function checkLoopback(seeds: readonly MockOrganizationSeed[]): void {
  for (const [index, { automations = [] }] of seeds.entries())
    for (const [at, { webhook }] of automations.entries())
      if (webhook && !/^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(webhook.url).hostname))
        throw new TypeError(
          `organizations[${index}].automations[${at}].webhook.url must be on loopback (localhost, 127.0.0.1, [::1]), ` +
            'unless the option webhooks is "anywhere"',
        );
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

/** Refuses two entries with one id. Returns the ids. */
function checkIds(things: readonly { id?: string }[], path: string): Set<string> {
  const ids = new Set<string>();
  for (const { id } of things) {
    if (id === undefined) continue;
    if (ids.has(id)) throw new TypeError(`${path}: two have the id "${id}"`);
    ids.add(id);
  }
  return ids;
}
