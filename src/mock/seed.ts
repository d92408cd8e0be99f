import type { MockContact, MockGroup } from "./books.ts";

/** A contact to begin with: the fields of a v1 contact, an `id` if it must be a known one, and the ids of its lists. */
export type MockContactSeed = Partial<
  Omit<MockContact, "custom_properties" | "consents" | "other_fields">
> & {
  /** Stored as the service stores them: numbers and booleans as texts. */
  custom_properties?: Record<string, string | number | boolean>;
  /** Ids of the lists that it is in from the start; no trigger fires for these. */
  lists?: readonly string[];
};

/** A list or segment to begin with. `type` is `"LIST"` by default, `created_at` the time of the start. */
export type MockGroupSeed = Pick<MockGroup, "id" | "name"> &
  Partial<Pick<MockGroup, "type" | "description" | "created_at">>;

/** An automation: it runs when the event is recorded, or when a contact joins the list. */
export interface MockAutomation {
  /** Names its runs in the books. */
  name: string;
  /** What sets it off: an event of this name, or joining this list. */
  on: { event: string } | { listId: string };
}

/** One organization: "A key belongs to exactly one organization", so no key may stand in two. */
export interface MockOrganizationSeed {
  /** What `mock.organization` finds it by. */
  id: string;
  /** Keys of the v1 family, and of v2 where `apiKeysV2` is absent. */
  apiKeys: readonly string[];
  /** Keys of the v2 family; default: `apiKeys`. */
  apiKeysV2?: readonly string[];
  /** The v2 family's app id. */
  appId: string;
  /** Lists and segments to begin with; default none. */
  lists?: readonly MockGroupSeed[];
  /** Contacts to begin with; default none. */
  contacts?: readonly MockContactSeed[];
  /** Automations to begin with; default none. */
  automations?: readonly MockAutomation[];
  /** Whether a welcome email flow is configured; default `false`. */
  welcomeFlow?: boolean;
}

/** What the mock begins with where nothing is given. Its keys are no secrets and say so. */
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

function isTexts(value: unknown): boolean {
  return (
    Array.isArray(value) && value.length > 0 && value.every((text) => typeof text === "string" && text !== "")
  );
}

/** Says at once what a seed lacks: one that comes from a JSON file has met no compiler. */
export function checkSeed(seed: MockOrganizationSeed, index: number): void {
  const where = `organizations[${index}]`;
  if (typeof seed !== "object" || seed === null) throw new TypeError(`${where} must be an object`);
  if (typeof seed.id !== "string" || seed.id === "") throw new TypeError(`${where}.id must be a text`);
  if (typeof seed.appId !== "string" || seed.appId === "")
    throw new TypeError(`${where}.appId must be a text`);
  if (!isTexts(seed.apiKeys)) throw new TypeError(`${where}.apiKeys must be an array with at least one text`);
  if (seed.apiKeysV2 !== undefined && !isTexts(seed.apiKeysV2))
    throw new TypeError(`${where}.apiKeysV2 must be an array with at least one text`);
  for (const part of ["lists", "contacts", "automations"] as const) {
    const isObjects = Array.isArray(seed[part]) && seed[part].every(isObject);
    if (seed[part] !== undefined && !isObjects)
      throw new TypeError(`${where}.${part} must be an array of objects`);
  }
  for (const [at, { id, name, type = "LIST", description = "", created_at = 0 }] of (
    seed.lists ?? []
  ).entries()) {
    if (typeof id !== "string" || typeof name !== "string" || typeof description !== "string")
      throw new TypeError(`${where}.lists[${at}] must have an id and a name, and texts for these`);
    if ((type !== "LIST" && type !== "SEGMENT") || !Number.isFinite(created_at))
      throw new TypeError(`${where}.lists[${at}]: type is LIST or SEGMENT, created_at a number of seconds`);
  }
  for (const [at, contact] of (seed.contacts ?? []).entries())
    checkContact(contact, `${where}.contacts[${at}]`);
  for (const [at, { name, on }] of (seed.automations ?? []).entries()) {
    const { event, listId } = Object(on) as { event?: unknown; listId?: unknown };
    if (typeof name !== "string" || typeof (event ?? listId) !== "string")
      throw new TypeError(`${where}.automations[${at}] must have a name, and on: { event } or { listId }`);
  }
}

/** What the rules of a v1 contact do not know; its other fields they judge. */
function checkContact(
  { id = "", created = "", updated = "", lists = [] }: MockContactSeed,
  where: string,
): void {
  if ([id, created, updated].some((text) => typeof text !== "string"))
    throw new TypeError(`${where}: id, created and updated must be texts`);
  if (!Array.isArray(lists)) throw new TypeError(`${where}.lists must be an array of list ids`);
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
