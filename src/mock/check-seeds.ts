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

/** Says at once what a seed lacks, or has too much: one that comes from a JSON file has met no compiler. */
export function checkSeeds(seeds: readonly MockOrganizationSeed[]): void {
  if (seeds.length === 0) throw new TypeError("organizations must be an array with at least one");
  for (const [index, seed] of seeds.entries()) checkOrganization(seed, `organizations[${index}]`);
  if (new Set(seeds.map((seed) => seed.id)).size < seeds.length)
    throw new TypeError("organizations: two have the same id");
}

function checkOrganization(seed: MockOrganizationSeed, where: string): void {
  if (!isObject(seed)) throw new TypeError(`${where} must be an object`);
  checkNames(where, seed, organizationNames);
  if (!isFilled(seed.id)) throw new TypeError(`${where}.id must be a text`);
  if (!isFilled(seed.appId)) throw new TypeError(`${where}.appId must be a text`);
  checkCarried(seed.appId, `${where}.appId`);
  checkKeys(seed.apiKeys, `${where}.apiKeys`);
  if (seed.apiKeysV2 !== undefined) checkKeys(seed.apiKeysV2, `${where}.apiKeysV2`);
  if (seed.welcomeFlow !== undefined && typeof seed.welcomeFlow !== "boolean")
    throw new TypeError(`${where}.welcomeFlow must be true or false`);
  for (const part of ["lists", "contacts", "automations"] as const) {
    const isObjects = Array.isArray(seed[part]) && seed[part].every(isObject);
    if (seed[part] !== undefined && !isObjects)
      throw new TypeError(`${where}.${part} must be an array of objects`);
  }
  const { lists = [], contacts = [], automations = [] } = seed;
  for (const [at, group] of lists.entries()) checkGroup(group, `${where}.lists[${at}]`);
  for (const [at, contact] of contacts.entries()) checkContact(contact, `${where}.contacts[${at}]`);
  for (const [at, automation] of automations.entries())
    checkAutomation(automation, `${where}.automations[${at}]`);
  const listIds = checkIds(lists, `${where}.lists`);
  checkIds(contacts, `${where}.contacts`);
  for (const [at, { on }] of automations.entries())
    if ("listId" in on && on.listId !== undefined && !listIds.has(on.listId))
      throw new TypeError(
        `${where}.automations[${at}].on: there is no list "${on.listId}" in ${where}.lists`,
      );
}

function checkKeys(keys: unknown, where: string): void {
  if (!Array.isArray(keys) || keys.length === 0 || !keys.every(isFilled))
    throw new TypeError(`${where} must be an array with at least one text`);
  for (const [at, key] of keys.entries()) checkCarried(key, `${where}[${at}]`);
}

/** No request could hold it otherwise. */
function checkCarried(text: string, where: string): void {
  if (text !== text.trim() || /[^ -~]/.test(text))
    throw new TypeError(`${where} must be printable ASCII without spaces around it, as a header carries it`);
}

function checkGroup(group: MockGroupSeed, where: string): void {
  checkNames(where, group, groupNames);
  const { id, name, type = "LIST", description = "", created_at = 0 } = group;
  if (!isFilled(id) || typeof name !== "string" || typeof description !== "string")
    throw new TypeError(`${where} must have an id and a name, and texts for these`);
  if ((type !== "LIST" && type !== "SEGMENT") || !Number.isFinite(created_at))
    throw new TypeError(`${where}: type is LIST or SEGMENT, created_at a number of seconds`);
}

/** What the rules of a v1 contact do not know; its other fields, and names that are not there, they judge. */
function checkContact({ id, created, updated, lists = [] }: MockContactSeed, where: string): void {
  if ([id, created, updated].some((text) => text !== undefined && typeof text !== "string"))
    throw new TypeError(`${where}: id, created and updated must be texts`);
  if (id === "") throw new TypeError(`${where}.id must not be empty: leave it out for one of the mock's own`);
  if ([created, updated].some((time) => time !== undefined && !isDay(time) && !isDateTime(time)))
    throw new TypeError(`${where}: created and updated must be an ISO 8601 day or date-time`);
  if (!Array.isArray(lists)) throw new TypeError(`${where}.lists must be an array of list ids`);
}

function checkAutomation(automation: MockAutomation, where: string): void {
  checkNames(where, automation, automationNames);
  const { name, on } = automation;
  if (isObject(on)) checkNames(`${where}.on`, on, triggerNames);
  const { event, listId } = Object(on) as { event?: unknown; listId?: unknown };
  if (event !== undefined && listId !== undefined)
    throw new TypeError(`${where}.on must be { event } or { listId }, not both: write two automations`);
  if (typeof name !== "string" || !isFilled(event ?? listId))
    throw new TypeError(`${where} must have a name, and on: { event } or { listId }`);
}

/** The ids that are given. Of two things with one id, only the second could be found. */
function checkIds(things: readonly { id?: string }[], where: string): Set<string> {
  const ids = new Set<string>();
  for (const { id } of things) {
    if (id === undefined) continue;
    if (ids.has(id)) throw new TypeError(`${where}: two have the id "${id}"`);
    ids.add(id);
  }
  return ids;
}

function isFilled(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** Every name of a type: one that is forgotten or invented does not compile. */
function namesOf<T>(names: Record<keyof T, true>): string[] {
  return Object.keys(names);
}
