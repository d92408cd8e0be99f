import type { ListHints } from "../pagination/cursor.ts";
import { type JsonObject, parseCount, UndecodableResponse } from "../schema/response-values.ts";
import { describeBody, describeKeys, plainName } from "../values/in-words.ts";
import { isRecord } from "../values/predicates.ts";

/** The keys that lead to the items of a list; none if the body is the array. */
export type ListPath = readonly string[];

interface FoundArray {
  readonly path: ListPath;
  readonly items: readonly unknown[];
}

/** Where a list may stand (D22): the body, `data`, one key of `data`, one key of the body. */
const shapes: readonly ((path: ListPath) => boolean)[] = [
  (path) => path.length === 0,
  ([first, ...rest]) => first === "data" && rest.length === 0,
  ([first, ...rest]) => first === "data" && rest.length === 1,
  (path) => path.length === 1,
];

/** Keys that hold no list, and no list inside. */
const besideList = new Set("errors warnings messages links meta included filters facets sort".split(" "));
const generalNames = ["items", "results", "records"];

export interface ListSigns {
  /** The usual names of the list, without case and separators. */
  readonly names: readonly string[];
  readonly isItem: (value: unknown) => boolean;
}

/**
 * Finds the list in its first response. Of several arrays the one with ids, then the one with a usual name, is the list.
 * Two that could be it are an error, and so is an empty one beside objects elsewhere: a guess could lose items.
 */
export function findListPath(body: unknown, { names, isItem }: ListSigns): ListPath {
  const arrays = arraysIn(body);
  const usualNames = new Set([...names, ...generalNames]);
  for (const isShape of shapes) {
    const here = arrays.filter(({ path }) => isShape(path));
    const lists = here.length > 1 ? here.filter(({ items }) => items.length === 0 || isItem(items[0])) : here;
    const named = lists.filter(({ path }) => usualNames.has(plainName(path.at(-1) ?? "")));
    // A name does not make an empty array the list where another one has items.
    const isNameEnough = named.length === 1 && (filled(named) > 0 || filled(lists) === 0);
    const [list, other] = isNameEnough ? named : lists;
    if (list && other) {
      const keys = describeKeys(lists.map(({ path }) => path.join(".")));
      throw withParsePage(`its body holds several arrays that could be the list: ${keys}`, arrays);
    }
    const areItemsElsewhere = filled(arrays) > filled(here);
    if (list && (list.items.length > 0 || !areItemsElsewhere)) return list.path;
  }
  throw withParsePage(`its body holds no list that the client can find: it is ${describeBody(body)}`, arrays);
}

function filled(arrays: readonly FoundArray[]): number {
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

const mostKeys = 4;

/** The arrays of objects, and the empty ones, outside of other arrays. */
function arraysIn(value: unknown, path: ListPath = []): FoundArray[] {
  if (Array.isArray(value)) return value.length === 0 || isRecord(value[0]) ? [{ path, items: value }] : [];
  if (!isRecord(value) || path.length === mostKeys) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    besideList.has(plainName(key)) ? [] : arraysIn(inner, [...path, key]),
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
 * The names that JSON:API, Laravel, Spring and the service's own v2 lists use, without case and separators, as none is
 * documented ("Endpoints": response body shape). Others are `parsePage`'s. The one that stands first here counts.
 */
const infoNames = {
  limit: ["perpage", "itemsperpage", "limit"],
  totalItems: ["total", "totalitems", "totalcount", "totalelements"],
  totalPages: ["totalpages", "lastpage", "pages"],
  hasNextPage: ["hasmore", "hasnext", "hasnextpage"],
  isLast: ["last"],
  next: ["next", "nextpage", "nextpageurl"],
};
const holders = new Set(["links", "meta", "pagination", "page"]);

/** Reads links, totals and flags: in the objects around the items, from the inside, in their holders, and in the headers (D147). */
export function parsePageInfo(body: unknown, path: ListPath, headers: Headers): ListHints {
  const around = path.map((_, depth) => valueAt(body, path.slice(0, depth)));
  const values = [...around.filter(isRecord).reverse(), valuesOf(headers)].flatMap(namedValues);
  const first = <Value>(
    among: readonly string[],
    parse: (value: unknown) => Value | undefined,
  ): Value | undefined =>
    among
      .flatMap((wanted) => values.filter(([name]) => name === wanted))
      .map(([, value]) => parse(value))
      .find((value) => value !== undefined);
  return {
    limit: first(infoNames.limit, parseCount),
    totalItems: first(infoNames.totalItems, parseCount),
    totalPages: first(infoNames.totalPages, parseCount),
    hasNextPage:
      first(infoNames.hasNextPage, parseFlag) ??
      first(infoNames.isLast, parseLast) ??
      first(infoNames.next, hasLink),
  };
}

/** The values of an object under their plain names, then those of its holders. */
function namedValues(object: JsonObject): (readonly [name: string, value: unknown])[] {
  const own = Object.entries(object).map(([key, value]) => [plainName(key), value] as const);
  const inner = own.filter(([name]) => holders.has(name)).map(([, holder]) => holder);
  return [...own, ...inner.filter(isRecord).flatMap(namedValues)];
}

/** `X-Total-Count`, and `Link` (RFC 8288). */
function valuesOf(headers: Headers): JsonObject {
  const links = headers.get("link") ?? "";
  return { total: headers.get("x-total-count"), ...(/\brel="?next\b/i.test(links) && { next: links }) };
}

function parseFlag(flag: unknown): boolean | undefined {
  return typeof flag === "boolean" ? flag : undefined;
}

/** Spring's flag; in JSON:API it is a link. */
function parseLast(last: unknown): boolean | undefined {
  return typeof last === "boolean" ? !last : undefined;
}

/** A link, also as `{ href }`, or a page number. `null`, `false` and "" mean no next page. */
function hasLink(next: unknown): boolean {
  return Boolean(isRecord(next) && "href" in next ? next["href"] : next);
}
