import type { ListHints } from "../pagination/cursor.ts";
import { type JsonObject, parseCount, UndecodableResponse } from "../schema/response-values.ts";
import { describeBody, describeKeys, plainName } from "../values/in-words.ts";
import { isRecord } from "../values/predicates.ts";

/** The keys that lead to the items of a v1 list in its response; none if the body is the array. */
export type ListPath = readonly string[];

interface FoundArray {
  readonly path: ListPath;
  readonly items: readonly unknown[];
}

/** Where a list may stand in a response (D22): the body, `data`, one key of `data`, one key of the body. */
const shapes: readonly ((path: ListPath) => boolean)[] = [
  (path) => path.length === 0,
  ([first, ...rest]) => first === "data" && rest.length === 0,
  ([first, ...rest]) => first === "data" && rest.length === 1,
  (path) => path.length === 1,
];

/** Keys beside a list in its response: no array in them is the list. */
const keysBesideList = new Set("errors warnings messages links meta included filters facets sort".split(" "));
const generalListNames = ["items", "results", "records"];

export interface ListSigns {
  /** The usual names of an array that is the list, without case and separators. */
  readonly names: readonly string[];
  readonly isItem: (value: unknown) => boolean;
}

/**
 * Finds the list in its first response. Of several arrays the one with ids, then the one with a usual name, is the list.
 * Two that could be it are an error, and so is an empty one beside objects elsewhere: a guess could lose items.
 */
export function findListPath(body: unknown, { names, isItem }: ListSigns): ListPath {
  const arrays = arraysIn(body);
  const usualNames = new Set([...names, ...generalListNames]);
  for (const isShape of shapes) {
    const here = arrays.filter(({ path }) => isShape(path));
    const lists = here.length > 1 ? here.filter(({ items }) => items.length === 0 || isItem(items[0])) : here;
    const namedLists = lists.filter(({ path }) => usualNames.has(plainName(path.at(-1) ?? "")));
    // A name does not make an empty array the list where another one has items.
    const isNameEnough = namedLists.length === 1 && (countFilled(namedLists) > 0 || countFilled(lists) === 0);
    const [list, other] = isNameEnough ? namedLists : lists;
    if (list && other) {
      const keys = describeKeys(lists.map(({ path }) => path.join(".")));
      throw withParsePage(`its body holds several arrays that could be the list: ${keys}`, arrays);
    }
    const areItemsElsewhere = countFilled(arrays) > countFilled(here);
    if (list && (list.items.length > 0 || !areItemsElsewhere)) return list.path;
  }
  throw withParsePage(`its body holds no list that the client can find: it is ${describeBody(body)}`, arrays);
}

function countFilled(arrays: readonly FoundArray[]): number {
  return arrays.filter(({ items }) => items.length > 0).length;
}

export function itemsAt(body: unknown, path: ListPath): readonly unknown[] {
  const items = valueAt(body, path);
  if (Array.isArray(items)) return items;
  const key = path.length > 0 ? `\`${describeKeys([path.join(".")])}\` of its body` : "its body";
  throw new UndecodableResponse(
    `${key} is no array, as it was on the first page: the body is ${describeBody(body)}.`,
  );
}

function valueAt(body: unknown, path: ListPath): unknown {
  return path.reduce<unknown>((value, key) => (isRecord(value) ? value[key] : undefined), body);
}

const longestPath = 4;

/** The arrays of objects, and the empty ones, outside of other arrays. */
function arraysIn(value: unknown, path: ListPath = []): FoundArray[] {
  if (Array.isArray(value)) return value.length === 0 || isRecord(value[0]) ? [{ path, items: value }] : [];
  if (!isRecord(value) || path.length === longestPath) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    keysBesideList.has(plainName(key)) ? [] : arraysIn(inner, [...path, key]),
  );
}

function withParsePage(problem: string, arrays: readonly FoundArray[]): UndecodableResponse {
  const { path } = arrays.find(({ items }) => items.length > 0) ?? arrays[0] ?? { path: ["data"] };
  const keys = path.map((key) => (/^[a-z_$][\w$]*$/i.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`));
  const items = describeKeys([`body${keys.join("")}`]);
  return new UndecodableResponse(
    `${problem}. Give the client a \`parsePage\` that returns the items: parsePage: (body) => ({ items: ${items} }).`,
  );
}

/**
 * The names of totals, links and flags in JSON:API, Laravel, Spring and the service's own v2 lists, without case and
 * separators, as none is documented ("Endpoints": response body shape). Others are `parsePage`'s. The first one here counts.
 */
const pageInfoNames = {
  limit: ["perpage", "itemsperpage", "limit"],
  totalItems: ["total", "totalitems", "totalcount", "totalelements"],
  totalPages: ["totalpages", "lastpage", "pages"],
  hasNextPage: ["hasmore", "hasnext", "hasnextpage"],
  isLast: ["last"],
  next: ["next", "nextpage", "nextpageurl"],
};
const infoHolders = new Set(["links", "meta", "pagination", "page"]);

/** Reads a page's links, totals and flags: around the items, from the inside, in holders, and in the headers (D147). */
export function parsePageInfo(body: unknown, path: ListPath, headers: Headers): ListHints {
  const aroundItems = path.map((_, depth) => valueAt(body, path.slice(0, depth)));
  const values = [...aroundItems.filter(isRecord).reverse(), headerValues(headers)].flatMap(namedValues);
  const firstValue = <Value>(
    names: readonly string[],
    parse: (value: unknown) => Value | undefined,
  ): Value | undefined =>
    names
      .flatMap((infoName) => values.filter(([name]) => name === infoName))
      .map(([, value]) => parse(value))
      .find((value) => value !== undefined);
  // Spring's flag; in JSON:API `last` is a link.
  const isLast = firstValue(pageInfoNames.isLast, parseFlag);
  return {
    limit: firstValue(pageInfoNames.limit, parseCount),
    totalItems: firstValue(pageInfoNames.totalItems, parseCount),
    totalPages: firstValue(pageInfoNames.totalPages, parseCount),
    hasNextPage:
      firstValue(pageInfoNames.hasNextPage, parseFlag) ??
      (isLast === undefined ? firstValue(pageInfoNames.next, hasLink) : !isLast),
  };
}

/** The values of an object under their plain names, then those of its holders. */
function namedValues(object: JsonObject): (readonly [name: string, value: unknown])[] {
  const own = Object.entries(object).map(([key, value]) => [plainName(key), value] as const);
  const inner = own.filter(([name]) => infoHolders.has(name)).map(([, holder]) => holder);
  return [...own, ...inner.filter(isRecord).flatMap(namedValues)];
}

/** `X-Total-Count`, and `Link` (RFC 8288). */
function headerValues(headers: Headers): JsonObject {
  const links = headers.get("link") ?? "";
  return { total: headers.get("x-total-count"), ...(/\brel="?next\b/i.test(links) && { next: links }) };
}

function parseFlag(flag: unknown): boolean | undefined {
  return typeof flag === "boolean" ? flag : undefined;
}

/** Whether `next` is a link, also as `{ href }`, or a page number. `null`, `false` and "" mean no next page. */
function hasLink(next: unknown): boolean {
  return Boolean(isRecord(next) && "href" in next ? next["href"] : next);
}
