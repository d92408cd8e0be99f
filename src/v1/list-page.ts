import {
  type JsonObject,
  UndecodableResponse,
  describeKeys,
  describeShape,
  parseCount,
} from "../schema/parse-response.ts";
import { isRecord } from "../schema/predicates.ts";
import { plainName } from "../schema/validation-issues.ts";
import type { FoundPage } from "./parse-page.ts";

/** The way out for a response in which the client finds no list. */
const parsePageHint = "Give the client a `parsePage` that returns the items.";

/** Finds the items of a v1 list response, and what it says of the rest of the list. */
export function findPage(body: unknown, operation: string): FoundPage {
  const items = findItems(body, operation);
  if (items.length === 0 && reportsFailure(body)) {
    throw new UndecodableResponse("its body holds no items and says that the call failed.");
  }
  return { items, ...parsePageInfo(body, items.length) };
}

/** A 2xx without items that reports a failure must not become an empty list. */
function reportsFailure(body: unknown): boolean {
  if (!isRecord(body)) return false;
  const { success, status, errors } = body;
  const hasErrors = Array.isArray(errors) && errors.length > 0;
  return success === false || status === false || status === "error" || hasErrors;
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
    // Without items anywhere else: they would be lost.
    (name, array) => array.length === 0 && !besideItems(name) && !holders.some(hasItemsInside),
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

function besideItems(name: string): boolean {
  return otherArrays.test(name) || wrappers.test(name);
}

/** Whether an object has what may be items at a place that is not usual: objects in an array, or one with an id. */
function hasItemsInside(holder: JsonObject): boolean {
  return Object.entries(holder).some(([key, value]) => {
    if (besideItems(plainName(key))) return false;
    if (Array.isArray(value)) return value.some(isRecord);
    return isRecord(value) && ("id" in value || hasItemsInside(value));
  });
}

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

const wrappers = /^(meta|paging|page(info|r)?|paginat(ion|or))$/;
const limitNames = /^(limit|(items)?perpage|(page)?size)$/;
const totalNames =
  /^total(items|count|results|records|elements|rows|entries|customers|(contact)?groups|contacts|profiles|lists|segments)?$/;
const countNames = /^((items?|record)?count)$/;
const pagesNames = /^((total|num)?pages|pages?count|lastpage)$/;
const hasMoreNames = /^(has)?(more|next(page)?)$/;
const isLastNames = /^((is)?last|islastpage)$/;
const nextNames = /^next(page)?(url|link|cursor|token)?$/;

/**
 * Parses links, totals and flags under any of the usual names. None is documented ("Endpoints": response body shape). If
 * two values differ, the one that continues the list wins: the greater total, the smaller page, the existing next page.
 */
function parsePageInfo(body: unknown, itemsHere: number): Omit<FoundPage, "items"> {
  const holders = holdersOf(body);
  const values = (names: RegExp) => holders.flatMap((holder) => valuesOf(holder, names));
  const counts = (names: RegExp) => values(names).flatMap((value) => parseCount(value) ?? []);
  const links = values(/^links$/)
    .map(linksByName)
    .filter(isRecord);
  // `count` may belong to the page or to the list: only a count above the number of items here is the list's.
  const totals = [...counts(totalNames), ...counts(countNames).filter((count) => count > itemsHere)];
  const hasNextPages = [
    ...values(hasMoreNames).flatMap(parseHasMore),
    // A number is the number of the last page.
    ...values(isLastNames).flatMap((isLast) => (typeof isLast === "boolean" ? [!isLast] : [])),
    ...values(nextNames).flatMap(parseNextPage),
    ...links.flatMap(linkedNextPagesOf),
  ];
  return {
    limit: inOrder(counts(limitNames)).find((limit) => limit > 0),
    totalItems: inOrder(totals).at(-1),
    totalPages: inOrder([...counts(pagesNames), ...links.flatMap(lastPageOf)]).at(-1),
    hasNextPage: hasNextPages.length > 0 ? hasNextPages.includes(true) : undefined,
  };
}

/** What the headers `Link` (RFC 8288) and `X-Total-Count` say of the rest of a list. */
export function parsePageHeaders(headers: Headers) {
  return {
    totalItems: parseCount(headers.get("x-total-count")),
    hasNextPage: /\brel="?next\b/i.test(headers.get("link") ?? "") || undefined,
  };
}

function inOrder(numbers: number[]): readonly number[] {
  return numbers.sort((one, other) => one - other);
}

/** The objects that may hold the items. */
function rootsOf(body: JsonObject): JsonObject[] {
  return [body["data"], body, body["result"]].filter(isRecord);
}

/** Those, and their `meta`, `pagination`, …, also one inside another (`meta.pagination`). */
function holdersOf(body: unknown): JsonObject[] {
  if (!isRecord(body)) return [];
  const roots = rootsOf(body);
  const first = roots.flatMap((root) => valuesOf(root, wrappers)).filter(isRecord);
  const second = first.flatMap((holder) => valuesOf(holder, wrappers)).filter(isRecord);
  return [...roots, ...first, ...second];
}

function valuesOf(holder: JsonObject, names: RegExp): unknown[] {
  return Object.keys(holder).flatMap((key) => (names.test(plainName(key)) ? [holder[key]] : []));
}

/** A flag, also as a number or a string: `1`, `"true"`. */
function parseHasMore(flag: unknown): boolean[] {
  if (typeof flag === "boolean") return [flag];
  if (flag === "true" || flag === "false") return [flag === "true"];
  const count = parseCount(flag);
  return count === undefined ? [] : [count > 0];
}

/** Links as an array of `{ rel, href }` become an object. */
function linksByName(links: unknown): unknown {
  if (!Array.isArray(links)) return links;
  return Object.fromEntries(links.filter(isRecord).map(({ rel, href }) => [rel, href]));
}

/** JSON:API: a null or missing link means no such page; `self` alone says nothing about pages. */
function linkedNextPagesOf(links: JsonObject): boolean[] {
  const nextPages = valuesOf(links, nextNames).flatMap(parseNextPage);
  const hasOtherPages = ["prev", "previous", "last"].some((name) => name in links);
  return nextPages.length === 0 && hasOtherPages ? [false] : nextPages;
}

/** A link as a string or as `{ href }`, a page number, or a cursor. null, `false` and "" mean no next page. */
function parseNextPage(next: unknown): boolean[] {
  if (next === undefined || Array.isArray(next)) return [];
  if (isRecord(next)) return "href" in next ? parseNextPage(next["href"]) : [true];
  return [Boolean(next)];
}

function lastPageOf({ last }: JsonObject): number[] {
  const link = isRecord(last) ? last["href"] : last;
  const page =
    typeof link === "string" ? /[?&]page(?:\[number\]|%5Bnumber%5D)?=(\d+)/i.exec(link)?.[1] : undefined;
  const count = parseCount(page);
  return count === undefined ? [] : [count];
}
