import { describeKeys, describeShape, type JsonObject } from "../answer-value.ts";
import { UnreadableAnswer } from "../unreadable-answer.ts";
import { isRecord } from "../is-object.ts";

/**
 * The array that holds a v1 list's items. Where it stands is not documented ("Endpoints": response body shape): it may
 * be the body, or stand under `data`, or under one key of `data` or of the body.
 *
 * The names of the resource come first, then general ones, then the only array of objects there is.
 */
export function findItems(body: unknown, operation: string): readonly unknown[] {
  if (Array.isArray(body)) return body;
  if (!isRecord(body)) throw unknownShape(body);
  const data = body["data"];
  if (Array.isArray(data)) return data;
  const places = isRecord(data) ? [data, body] : [body];
  const known = findNamed(places, namesOf(operation)) ?? findNamed(places, generalNames);
  const items = known ?? findOnlyArray(places) ?? findNothing(places);
  if (!items) throw unknownShape(body);
  return items;
}

const customerNames = new Set(["customers", "contacts", "profiles"]);
const contactGroupNames = new Set(["contactgroups", "groups", "lists", "segments"]);
const generalNames = new Set([
  "data",
  "items",
  "results",
  "records",
  "content",
  "rows",
  "entries",
  "elements",
  "nodes",
  "list",
  "values",
]);
/** Arrays of objects that accompany a list and are not it. */
const besideItems = new Set(["errors", "warnings", "links", "included", "facets", "filters", "sort"]);

function namesOf(operation: string): ReadonlySet<string> {
  return operation.includes("contactGroups") ? contactGroupNames : customerNames;
}

/** `contact_groups`, `contact-groups` and `contactGroups` are one name. */
function plain(key: string): string {
  return key.replace(/[_-]/g, "").toLowerCase();
}

function findNamed(
  places: readonly JsonObject[],
  names: ReadonlySet<string>,
): readonly unknown[] | undefined {
  for (const place of places) {
    const found = arraysOf(place).filter(([key]) => names.has(plain(key)));
    if (found.length > 1) throw ambiguous(found);
    if (found[0]) return found[0][1];
  }
  return undefined;
}

function findOnlyArray(places: readonly JsonObject[]): readonly unknown[] | undefined {
  for (const place of places) {
    const found = candidatesOf(place).filter(([, array]) => array.length > 0);
    if (found.length > 1) throw ambiguous(found);
    if (found[0]) return found[0][1];
  }
  return undefined;
}

/** Whichever array held the items of other pages: all of them are empty here. */
function findNothing(places: readonly JsonObject[]): readonly unknown[] | undefined {
  return places.flatMap(candidatesOf)[0]?.[1];
}

function candidatesOf(place: JsonObject): [string, readonly unknown[]][] {
  return arraysOf(place).filter(([key, array]) => !besideItems.has(plain(key)) && array.every(isRecord));
}

function arraysOf(place: JsonObject): [string, readonly unknown[]][] {
  return Object.entries(place).flatMap(([key, value]) => (Array.isArray(value) ? [[key, value]] : []));
}

function ambiguous(found: readonly [string, unknown][]): UnreadableAnswer {
  const keys = describeKeys(found.map(([key]) => key));
  return new UnreadableAnswer(`its body holds several arrays that could be the list: ${keys}. ${wayOut}`);
}

function unknownShape(body: unknown): UnreadableAnswer {
  const data = isRecord(body) && "data" in body ? `, its \`data\` is ${describeShape(body["data"])}` : "";
  return new UnreadableAnswer(
    `its body holds no list that is understood: it is ${describeShape(body)}${data}. ${wayOut}`,
  );
}

export const wayOut = "Give the client `parsePage`, which tells where the items are.";
