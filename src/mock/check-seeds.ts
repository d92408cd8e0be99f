import { checkNames } from "./check-names.ts";
import { isDateTime, isDay } from "./formats.ts";
import { isObject } from "./is-object.ts";
import type { MockAutomation, MockContactSeed, MockGroupSeed, MockOrganizationSeed } from "./seed.ts";

const organizationNames = namesOf<MockOrganizationSeed>({
  id: true,
  apiKeys: true,
  apiKeysV2: true,
  appId: true,
  lists: true,
  contacts: true,
  automations: true,
  welcomeFlow: true,
});
const groupNames = namesOf<MockGroupSeed>({
  id: true,
  name: true,
  type: true,
  description: true,
  created_at: true,
});
const automationNames = namesOf<MockAutomation>({ name: true, on: true });
const triggerNames = ["event", "listId"];

/** Checks the seeds: a seed from a JSON file is not checked by the compiler. */
export function checkSeeds(seeds: readonly MockOrganizationSeed[]): void {
  if (seeds.length === 0) throw new TypeError("organizations must be an array with at least one");
  for (const [index, seed] of seeds.entries()) checkOrganization(seed, `organizations[${index}]`);
  if (new Set(seeds.map((seed) => seed.id)).size < seeds.length)
    throw new TypeError("organizations: two have the same id");
}

function checkOrganization(seed: MockOrganizationSeed, path: string): void {
  if (!isObject(seed)) throw new TypeError(`${path} must be an object`);
  checkNames(path, seed, organizationNames);
  if (!isNonEmptyString(seed.id)) throw new TypeError(`${path}.id must be a string that is not empty`);
  if (!isNonEmptyString(seed.appId)) throw new TypeError(`${path}.appId must be a string that is not empty`);
  checkHeaderValue(seed.appId, `${path}.appId`);
  checkKeys(seed.apiKeys, `${path}.apiKeys`);
  if (seed.apiKeysV2 !== undefined) checkKeys(seed.apiKeysV2, `${path}.apiKeysV2`);
  if (seed.welcomeFlow !== undefined && typeof seed.welcomeFlow !== "boolean")
    throw new TypeError(`${path}.welcomeFlow must be a boolean`);
  for (const part of ["lists", "contacts", "automations"] as const) {
    const isObjects = Array.isArray(seed[part]) && seed[part].every(isObject);
    if (seed[part] !== undefined && !isObjects)
      throw new TypeError(`${path}.${part} must be an array of objects`);
  }
  const { lists = [], contacts = [], automations = [] } = seed;
  for (const [at, group] of lists.entries()) checkGroup(group, `${path}.lists[${at}]`);
  for (const [at, contact] of contacts.entries()) checkContact(contact, `${path}.contacts[${at}]`);
  for (const [at, automation] of automations.entries())
    checkAutomation(automation, `${path}.automations[${at}]`);
  const listIds = checkIds(lists, `${path}.lists`);
  checkIds(contacts, `${path}.contacts`);
  for (const [at, { on }] of automations.entries())
    if ("listId" in on && on.listId !== undefined && !listIds.has(on.listId))
      throw new TypeError(`${path}.automations[${at}].on: there is no list "${on.listId}" in ${path}.lists`);
}

function checkKeys(keys: unknown, path: string): void {
  if (!Array.isArray(keys) || keys.length === 0 || !keys.every(isNonEmptyString))
    throw new TypeError(`${path} must be an array with at least one string`);
  for (const [at, key] of keys.entries()) checkHeaderValue(key, `${path}[${at}]`);
}

/** No request could carry another value. */
function checkHeaderValue(value: string, path: string): void {
  if (value !== value.trim() || /[^ -~]/.test(value))
    throw new TypeError(`${path} must be printable ASCII without spaces around it, as a header carries it`);
}

function checkGroup(group: MockGroupSeed, path: string): void {
  checkNames(path, group, groupNames);
  const { id, name, type = "LIST", description = "", created_at = 0 } = group;
  if (!isNonEmptyString(id) || typeof name !== "string" || typeof description !== "string")
    throw new TypeError(`${path} must have an id and a name; id, name and description are strings`);
  if ((type !== "LIST" && type !== "SEGMENT") || !Number.isFinite(created_at))
    throw new TypeError(`${path}: type is LIST or SEGMENT, created_at a number of seconds`);
}

/** Checks the keys that only a seed has. The rules of a v1 contact check the others. */
function checkContact({ id, created, updated, lists = [] }: MockContactSeed, path: string): void {
  if ([id, created, updated].some((value) => value !== undefined && typeof value !== "string"))
    throw new TypeError(`${path}: id, created and updated must be strings`);
  if (id === "") throw new TypeError(`${path}.id must not be empty: leave it out for a generated id`);
  if ([created, updated].some((time) => time !== undefined && !isDay(time) && !isDateTime(time)))
    throw new TypeError(`${path}: created and updated must be an ISO 8601 day or date-time`);
  if (!Array.isArray(lists)) throw new TypeError(`${path}.lists must be an array of list ids`);
}

function checkAutomation(automation: MockAutomation, path: string): void {
  checkNames(path, automation, automationNames);
  const { name, on } = automation;
  if (isObject(on)) checkNames(`${path}.on`, on, triggerNames);
  const { event, listId } = Object(on) as { event?: unknown; listId?: unknown };
  if (event !== undefined && listId !== undefined)
    throw new TypeError(`${path}.on must be { event } or { listId }, not both: write two automations`);
  if (typeof name !== "string" || !isNonEmptyString(event ?? listId))
    throw new TypeError(`${path} must have a name, and on: { event } or { listId }`);
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

function isNonEmptyString(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** All keys of a type: a missing or unknown key does not compile. */
function namesOf<T>(names: Record<keyof T, true>): string[] {
  return Object.keys(names);
}
