import type { Endpoint } from "../endpoint.ts";
import { LIMITS } from "../limits.ts";
import type { DecodedPage } from "../pagination/has-next-page.ts";
import { type ListOptions, type Paginator, listPages } from "../pagination/paginator.ts";
import { plainName } from "../schema/issues.ts";
import { isRecord } from "../schema/kind-of.ts";
import {
  type JsonObject,
  UndecodableResponse,
  describeKeys,
  describeShape,
} from "../schema/parse-response.ts";
import type { CallEndpoint } from "../transport/transport.ts";
import { parsePageInfo, rootsOf } from "./page-info.ts";
import { callParsePage, type FoundPage, type ParsePage } from "./parse-page.ts";

/** A v1 list: its endpoint, and how its items are decoded. */
interface ListSettings<T> extends Pick<Endpoint<undefined, T>, "operation" | "path" | "query"> {
  /** Decodes an item for the user; `undefined` without an id. */
  readonly decodeItem: (value: unknown) => T | undefined;
  readonly parsePage?: ParsePage | undefined;
}

/** The method of a v1 list. */
export function v1List<T extends { readonly id: string }>(
  call: CallEndpoint,
  { decodeItem, parsePage, ...endpoint }: ListSettings<T>,
) {
  const { operation } = endpoint;
  return (query: object | undefined, options: ListOptions | undefined): Paginator<T> =>
    listPages({
      call,
      endpoint: {
        method: "GET",
        ...endpoint,
        decode: ({ body }) => parseV1Page(body, { operation, decodeItem, parsePage }),
      },
      query,
      options,
      longestPage: LIMITS.limit.max,
      identify: ({ id }) => id,
    });
}

/** Decodes a v1 list response of any usual shape. Throws `UndecodableResponse` if items or an id are missing. */
export function parseV1Page<T>(
  body: unknown,
  { operation, decodeItem, parsePage }: Omit<ListSettings<T>, "path" | "query">,
): DecodedPage<T> {
  const { items, ...info } = parsePage
    ? callParsePage(parsePage, body, operation)
    : findPage(body, operation);
  const decoded = items.map((item, at) => {
    const value = decodeItem(item);
    if (value !== undefined) return value;
    throw new UndecodableResponse(
      `item ${at} of its list has no id: it is ${describeShape(item)}. ${parsePageHint}`,
    );
  });
  return { items: decoded, ...info, raw: body };
}

function findPage(body: unknown, operation: string): FoundPage {
  const items = findItems(body, operation);
  if (items.length === 0 && reportsFailure(body)) {
    throw new UndecodableResponse("its body holds no items and says that the call failed.");
  }
  return { items, ...parsePageInfo(body, items.length) };
}

/**
 * Finds the items of a v1 list. Their place is not documented ("Endpoints": response body shape): the body itself,
 * `data`, or one key of `data`, of the body, or of `result`. A name of the resource goes before a general name, and that
 * before any other array of objects.
 */
function findItems(body: unknown, operation: string): readonly unknown[] {
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
      if (found.length > 1 && found.some(([, array]) => array.length > 0)) throw ambiguous(found);
      if (found[0]) return found[0][1];
    }
  }
  if (isEmptyAsNull(body, holders)) return [];
  throw unknownShape(body);
}

const customerNames = /^(customers|contacts|profiles)$/;
const contactGroupNames = /^((contact)?groups|lists|segments)$/;
const generalNames = /^(data|items|results|records|content|rows|entries|elements|nodes|list|values)$/;
/** Arrays of objects that are not the list. */
const otherArrays = /^(errors|warnings|links|included|facets|filters|sort)$/;

type NamedArray = [name: string, array: readonly unknown[]];

function arraysOf(holder: JsonObject): NamedArray[] {
  return Object.entries(holder).flatMap(([key, value]) => (Array.isArray(value) ? [[key, value]] : []));
}

/** Some servers write an empty array as null. It counts as empty only with a total of 0 (D28). */
function isEmptyAsNull(body: unknown, holders: readonly JsonObject[]): boolean {
  const { totalItems, totalPages } = parsePageInfo(body, 0);
  const isEmpty = totalItems === 0 || (totalItems === undefined && totalPages === 0);
  return isEmpty && holders.some((holder) => Object.values(holder).includes(null));
}

/** A 2xx without items that reports a failure must not become an empty list. */
function reportsFailure(body: unknown): boolean {
  if (!isRecord(body)) return false;
  const { success, status, errors } = body;
  const hasErrors = Array.isArray(errors) && errors.length > 0;
  return success === false || status === false || status === "error" || hasErrors;
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

const parsePageHint = "Give the client a `parsePage` that returns the items.";
