import {
  arrayOf,
  boolean,
  enumOf,
  isObject,
  nonEmptyString,
  note,
  number,
  object,
  type Rule,
  string,
  stringThat,
} from "../json-rules.ts";
import { isDateTime, isDay, isUrl } from "../string-formats.ts";
import type { Optional } from "../variants.ts";
import type { MockContact, MockGroup } from "./organization-state.ts";

/** A contact at the start: the fields of a v1 contact, optionally its `id` and the ids of its lists. */
export type MockContactSeed = Optional<
  Omit<MockContact, "custom_properties" | "consents" | "other_fields">
> & {
  /** Numbers and booleans are stored as strings. */
  custom_properties?: Record<string, string | number | boolean> | undefined;
  /** The ids of its lists. No trigger fires for them. */
  lists?: readonly string[] | undefined;
};

/** A list or segment at the start. Default `type`: `"LIST"`; default `created_at`: the time of the start. */
export type MockGroupSeed = Pick<MockGroup, "id" | "name"> &
  Optional<Pick<MockGroup, "type" | "description" | "created_at">>;

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
  webhook?: { url: string } | undefined;
}

/** One organization: "A key belongs to exactly one organization", so no key may stand in two. */
export interface MockOrganizationSeed {
  /** The id for `mock.organization`. */
  id: string;
  /** Keys of the v1 family, and of v2 without `apiKeysV2`. */
  apiKeys: readonly string[];
  /** Keys of the v2 family; default: `apiKeys`. */
  apiKeysV2?: readonly string[] | undefined;
  /** The v2 family's app id. */
  appId: string;
  /** Lists and segments, each with a unique id; default none. */
  lists?: readonly MockGroupSeed[] | undefined;
  /** Contacts; default none. */
  contacts?: readonly MockContactSeed[] | undefined;
  /** Automations; default none. */
  automations?: readonly MockAutomation[] | undefined;
  /** Whether a welcome email flow is configured; default `false`. */
  welcomeFlow?: boolean | undefined;
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

const keys = arrayOf(nonEmptyString, { min: 1 });
const time = stringThat((value) => isDay(value) || isDateTime(value), "must be an ISO 8601 day or date-time");

const groupFields: Record<keyof MockGroupSeed, Rule> = {
  id: nonEmptyString,
  name: string(),
  type: enumOf("LIST", "SEGMENT"),
  description: string(),
  created_at: number,
};
/** The names that only a seed has. The rules of a v1 contact check the others. */
const contactFields = { id: nonEmptyString, created: time, updated: time, lists: arrayOf(string()) };
const triggerFields = object({ event: nonEmptyString, listId: nonEmptyString });
const trigger: Rule = (value, path, problems) => {
  triggerFields(value, path, problems);
  if (isObject(value) && (value["event"] === undefined) === (value["listId"] === undefined))
    note(problems, path, "must be { event } or { listId }; for both, write two automations");
};
const automationFields: Record<keyof MockAutomation, Rule> = {
  name: string(),
  on: trigger,
  webhook: object({ url: stringThat(isUrl, "must be an http: or https: URL") }, { required: ["url"] }),
};
const organizationFields: Record<keyof MockOrganizationSeed, Rule> = {
  id: nonEmptyString,
  apiKeys: keys,
  apiKeysV2: keys,
  appId: nonEmptyString,
  lists: arrayOf(object(groupFields, { required: ["id", "name"] })),
  contacts: arrayOf(object(contactFields, { unknownKeys: () => undefined })),
  automations: arrayOf(object(automationFields, { required: ["name", "on"] })),
  welcomeFlow: boolean,
};

/** The rule of a seed, which may come from a JSON file. */
export const organizationRule = object(organizationFields, { required: ["id", "apiKeys", "appId"] });

/** Checks what concerns several values: ids that are used twice, triggers without a list, and receivers elsewhere. */
export function checkSeeds(
  seeds: readonly MockOrganizationSeed[],
  webhooks: "loopback" | "anywhere" = "loopback",
): void {
  refuseSameIds(seeds, "organizations");
  for (const [index, { lists = [], contacts = [], automations = [] }] of seeds.entries()) {
    const path = `organizations[${index}]`;
    refuseSameIds(lists, `${path}.lists`);
    refuseSameIds(contacts, `${path}.contacts`);
    for (const [at, { on, webhook }] of automations.entries()) {
      if ("listId" in on && !lists.some(({ id }) => id === on.listId))
        throw new TypeError(`${path}.automations[${at}].on: the organization has no list "${on.listId}"`);
      if (webhook && webhooks === "loopback" && !isLoopback(webhook.url))
        throw new TypeError(
          `${path}.automations[${at}].webhook.url must be on loopback (localhost, 127.0.0.1, [::1]), ` +
            'unless the option webhooks is "anywhere"',
        );
    }
  }
}

/** A key that is misspelt there would be permitted everything. */
export function checkPermissions(
  seeds: readonly MockOrganizationSeed[],
  permissions: Readonly<Record<string, unknown>>,
): void {
  const known = seeds.flatMap(({ apiKeys, apiKeysV2 = [] }) => [...apiKeys, ...apiKeysV2]);
  const unknown = Object.keys(permissions).find((key) => !known.includes(key));
  if (unknown !== undefined)
    throw new TypeError(
      `variants.permissions: no organization has the key "${unknown}"; there are: ${known.join(", ")}`,
    );
}

/** A test must not call a real endpoint by mistake. */
function isLoopback(url: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(url).hostname);
}

function refuseSameIds(things: readonly { id?: string | undefined }[], path: string): void {
  const ids = new Set<string>();
  for (const { id } of things) {
    if (id !== undefined && ids.has(id)) throw new TypeError(`${path}: two have the id "${id}"`);
    if (id !== undefined) ids.add(id);
  }
}
