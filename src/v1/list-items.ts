import { isRecord } from "../schema/kind-of.ts";
import { plainName } from "../schema/name-hint.ts";
import { describeKeys, describeShape, type JsonObject, UndecodableResponse } from "../schema/response.ts";

/**
 * Finds the array of a v1 list's items. Its place is not documented ("Endpoints": response body shape): the body itself,
 * `data`, or one key of `data` or of the body.
 *
 * The order of preference: a name of the resource, a general name, the only array of objects.
 */
export function findItems(body: unknown, operation: string): readonly unknown[] {
  if (Array.isArray(body)) return body;
  if (!isRecord(body)) throw unknownShape(body);
  const data = body["data"];
  if (Array.isArray(data)) return data;
  const holders = isRecord(data) ? [data, body] : [body];
  const items =
    findOne(holders, arraysNamed(namesOf(operation))) ??
    findOne(holders, arraysNamed(generalNames)) ??
    findOne(holders, (holder) => candidatesOf(holder).filter(([, array]) => array.length > 0)) ??
    findEmpty(holders);
  if (!items) throw unknownShape(body);
  return items;
}

const customerNames = /^(customers|contacts|profiles)$/;
const contactGroupNames = /^((contact)?groups|lists|segments)$/;
const generalNames = /^(data|items|results|records|content|rows|entries|elements|nodes|list|values)$/;
/** Arrays of objects that are not the list. */
const otherArrays = /^(errors|warnings|links|included|facets|filters|sort)$/;

function namesOf(operation: string): RegExp {
  return operation.includes("contactGroups") ? contactGroupNames : customerNames;
}

type NamedArray = [name: string, array: readonly unknown[]];

/** The array of the first holder that has such an array. More than one is an error. */
function findOne(
  holders: readonly JsonObject[],
  arrays: (holder: JsonObject) => NamedArray[],
): readonly unknown[] | undefined {
  for (const holder of holders) {
    const found = arrays(holder);
    if (found.length > 1) throw ambiguous(found);
    if (found[0]) return found[0][1];
  }
  return undefined;
}

function arraysNamed(pattern: RegExp): (holder: JsonObject) => NamedArray[] {
  return (holder) => arraysOf(holder).filter(([name]) => pattern.test(plainName(name)));
}

/** All arrays are empty: take any. */
function findEmpty(holders: readonly JsonObject[]): readonly unknown[] | undefined {
  return holders.flatMap(candidatesOf)[0]?.[1];
}

function candidatesOf(holder: JsonObject): NamedArray[] {
  return arraysOf(holder).filter(
    ([name, array]) => !otherArrays.test(plainName(name)) && array.every(isRecord),
  );
}

function arraysOf(holder: JsonObject): NamedArray[] {
  return Object.entries(holder).flatMap(([key, value]) => (Array.isArray(value) ? [[key, value]] : []));
}

function ambiguous(found: readonly NamedArray[]): UndecodableResponse {
  const keys = describeKeys(found.map(([name]) => name));
  return new UndecodableResponse(
    `its body holds several arrays that could be the list: ${keys}. ${parsePageHint}`,
  );
}

function unknownShape(body: unknown): UndecodableResponse {
  const data = isRecord(body) && "data" in body ? `, its \`data\` is ${describeShape(body["data"])}` : "";
  return new UndecodableResponse(
    `its body holds no list that the client can find: it is ${describeShape(body)}${data}. ${parsePageHint}`,
  );
}

export const parsePageHint = "Give the client a `parsePage` that returns the items.";
