import * as z from "zod";
import type { ParsedResponse } from "../endpoint.ts";
import { LIMITS } from "../limits.ts";
import type { DecodedPage, ListHints } from "../pagination/end-of-list.ts";
import { decodeItems, refuseFailure } from "../pagination/page.ts";
import type { ListEndpoint } from "../pagination/paginator.ts";
import {
  type JsonObject,
  parseCount,
  parseResponse,
  UndecodableResponse,
} from "../schema/response-values.ts";
import {
  describeBody,
  describeKeys,
  describeShape,
  errorMessage,
  ignoreRejection,
  plainName,
} from "../values/in-words.ts";
import { isRecord, propertyOf } from "../values/predicates.ts";

/** The result of `parsePage`. Totals and `hasNextPage` are optional. */
export interface ParsedPage {
  /** The items, unchanged: resources, envelopes or flat objects. */
  readonly items: readonly unknown[];
  /** The number of pages of this size in the whole list. */
  readonly totalPages?: number | null | undefined;
  /** The number of items of the whole list. */
  readonly totalItems?: number | null | undefined;
  /** Default: the totals decide; without totals, a page shorter than its limit is the last. */
  readonly hasNextPage?: boolean | null | undefined;
}

/**
 * Finds the items of a v1 list response, whose shape is not documented ("Endpoints"). On each page it replaces the
 * client's own search, also for totals, links and flags. Each item needs an id at a usual place.
 *
 * If it throws, or returns an invalid value, the call rejects with an `UnexpectedResponseError`.
 *
 * ```ts
 * new AudienceClient({ …, parsePage: (body) => ({ items: body.result.people, totalItems: body.result.size }) });
 * ```
 */
export type ParsePage = (body: unknown, context: { operation: string }) => ParsedPage;

interface V1List<Item> extends Pick<ListEndpoint<Item>, "operation" | "path" | "query"> {
  /** The usual names of an array that is the list, without case and separators. */
  readonly names: readonly string[];
  /** Decodes an item of the list for the user; `undefined` without an id. */
  readonly decodeItem: (value: unknown) => Item | undefined;
}

export function v1List<Item extends { readonly id: string }>(
  list: V1List<Item>,
  parsePage: ParsePage | undefined,
): ListEndpoint<Item> {
  const { operation, path, query, decodeItem } = list;
  return {
    operation,
    path,
    query,
    longestPage: LIMITS.limit.max,
    identify: ({ id }) => id,
    pageDecoder() {
      let itemsPath: ListPath | undefined;
      return (response) => {
        const page = parsePage
          ? callParsePage(parsePage, response.body, operation)
          : parsePageAt((itemsPath ??= findListPath(response.body, list)), response);
        return { ...page, items: decodeItems(page.items, decodeItem, "id", wayOutWithoutId) };
      };
    },
  };
}

const wayOutWithoutId = " Let `parsePage` give each item an id: { ...row, id: row.uuid }.";

const countSchema = z.int().min(0).nullish();

const parsedPageSchema = z.object({
  items: z.array(z.unknown()),
  totalPages: countSchema,
  totalItems: countSchema,
  hasNextPage: z.boolean().nullish(),
}) satisfies z.ZodType<ParsedPage>;

function callParsePage(parsePage: ParsePage, body: unknown, operation: string): DecodedPage<unknown> {
  const subject = "the client's parsePage";
  let parsed: unknown;
  try {
    parsed = parsePage(body, { operation });
  } catch (error) {
    throw new UndecodableResponse(
      `${subject} threw ${errorMessage(error)}; the body is ${describeShape(body)}.`,
    );
  }
  ignoreRejection(parsed);
  const problem = `${subject} returned another value than { items, totalItems?, totalPages?, hasNextPage? }`;
  const { items, totalPages, totalItems, hasNextPage } = parseResponse(parsedPageSchema, parsed, problem);
  return {
    items,
    totalPages: totalPages ?? undefined,
    totalItems: totalItems ?? undefined,
    hasNextPage: hasNextPage ?? undefined,
  };
}

/** The keys that lead to the items of a v1 list in its response; none if the body is the array. */
type ListPath = readonly string[];

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

/**
 * Finds the list in its first response. Of several arrays the one with ids, then the one with a usual name, is the list.
 * Two that could be it are an error, and so is an empty one beside objects elsewhere: a guess could lose items.
 */
function findListPath(body: unknown, { names, decodeItem }: V1List<unknown>): ListPath {
  const arrays = arraysIn(body);
  const usualNames = new Set([...names, "items", "results", "records"]);
  for (const isShape of shapes) {
    const here = arrays.filter(({ path }) => isShape(path));
    const lists =
      here.length > 1
        ? here.filter(({ items }) => items.length === 0 || decodeItem(items[0]) !== undefined)
        : here;
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

/** Parses a page of a list that stands at a path of its first response. */
function parsePageAt(path: ListPath, { body, headers }: ParsedResponse): DecodedPage<unknown> {
  const items = path.reduce(propertyOf, body);
  if (Array.isArray(items)) {
    refuseFailure(items, body);
    return { items, ...parsePageInfo(body, path, headers) };
  }
  const key = path.length > 0 ? `\`${describeKeys([path.join(".")])}\` of its body` : "its body";
  throw new UndecodableResponse(
    `${key} is no array, as it was on the first page: the body is ${describeBody(body)}.`,
  );
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
function parsePageInfo(body: unknown, path: ListPath, headers: Headers): ListHints {
  const aroundItems = path.map((_, depth) => path.slice(0, depth).reduce(propertyOf, body));
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
