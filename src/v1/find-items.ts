import { isRecord } from "../schema/kind-of.ts";
import {
  type JsonObject,
  UndecodableResponse,
  describeKeys,
  describeShape,
} from "../schema/parse-response.ts";
import { plainName } from "../schema/validation-issues.ts";
import { parsePageInfo, rootsOf } from "./page-info.ts";

/** The way out for a response in which the client finds no list. */
export const parsePageHint = "Give the client a `parsePage` that returns the items.";

/**
 * Finds the items of a v1 list. Their place is not documented ("Endpoints": response body shape): the body itself,
 * `data`, or one key of `data`, of the body, or of `result`. A name of the resource goes before a general name, and that
 * before any other array of objects.
 */
export function findItems(body: unknown, operation: string): readonly unknown[] {
  if (Array.isArray(body)) return body;
  if (!isRecord(body)) throw unknownShape(body);
  if (Array.isArray(body["data"])) return body["data"];
  const holders = rootsOf(body);
  const resourceNames = operation === "v1.contactGroups.list" ? contactGroupNames : customerNames;
  const preferences: ((name: string, array: readonly unknown[]) => boolean)[] = [
    (name) => resourceNames.test(name),
    (name) => generalNames.test(name),
    (name, array) => array.length > 0 && array.every(isRecord) && !otherArrays.test(name),
    (name, array) => array.length === 0 && !otherArrays.test(name),
  ];
  for (const isPreferred of preferences) {
    for (const holder of holders) {
      const found = arraysOf(holder).filter(([name, array]) => isPreferred(plainName(name), array));
      if (found.length > 1 && found.some(([, array]) => array.length > 0))
        throw new UndecodableResponse(
          `${ambiguous} ${describeKeys(found.map(([name]) => name))}. ${parsePageHint}`,
        );
      if (found[0]) return found[0][1];
    }
  }
  if (isEmptyAsNull(body, holders)) return [];
  throw unknownShape(body);
}

const ambiguous = "its body holds several arrays that could be the list:";
const customerNames = /^(customers|contacts|profiles)$/;
const contactGroupNames = /^((contact)?groups|lists|segments)$/;
const generalNames = /^(data|items|results|records|content|rows|entries|elements|nodes|list|values)$/;
/** Arrays of objects that are not the list. */
const otherArrays = /^(errors|warnings|links|included|facets|filters|sort)$/;

function arraysOf(holder: JsonObject): [name: string, array: readonly unknown[]][] {
  return Object.entries(holder).flatMap(([key, value]) => (Array.isArray(value) ? [[key, value]] : []));
}

/** Some servers write an empty array as null. It counts as empty only with a total of 0 (D28). */
function isEmptyAsNull(body: unknown, holders: readonly JsonObject[]): boolean {
  const { totalItems, totalPages } = parsePageInfo(body, 0);
  const isEmpty = totalItems === 0 || (totalItems === undefined && totalPages === 0);
  return isEmpty && holders.some((holder) => Object.values(holder).includes(null));
}

function unknownShape(body: unknown): UndecodableResponse {
  const data = isRecord(body) && "data" in body ? `, its \`data\` is ${describeShape(body["data"])}` : "";
  return new UndecodableResponse(
    `its body holds no list that the client can find: it is ${describeShape(body)}${data}. ${parsePageHint}`,
  );
}
