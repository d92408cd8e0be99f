import type { ListHints } from "../pagination/cursor.ts";
import { type JsonObject, parseCount } from "../schema/response-values.ts";
import { plainName } from "../values/name-meant.ts";
import { isRecord } from "../values/predicates.ts";

/**
 * The names that JSON:API, Laravel, Spring and the service's own v2 lists use, without case and separators, as none is
 * documented ("Endpoints": response body shape). Others are `parsePage`'s. The one that stands first here counts.
 */
const names = {
  limit: ["perpage", "itemsperpage", "limit"],
  totalItems: ["total", "totalitems", "totalcount", "totalelements"],
  totalPages: ["totalpages", "lastpage", "pages"],
  hasNextPage: ["hasmore", "hasnext", "hasnextpage"],
  next: ["next", "nextpage", "nextpageurl"],
};
const holders = new Set(["links", "meta", "pagination", "page"]);

/** Reads links, totals and flags: in the objects around the items, in their holders, and in the headers (D147). */
export function parsePageInfo(around: readonly JsonObject[], headers: Headers): ListHints {
  const values = [...around, valuesOfHeaders(headers)].flatMap(namedValues);
  const first = <Value>(
    among: readonly string[],
    parse: (value: unknown) => Value | undefined,
  ): Value | undefined =>
    among
      .flatMap((wanted) => values.filter(([name]) => name === wanted))
      .map(([, value]) => parse(value))
      .find((value) => value !== undefined);
  return {
    limit: first(names.limit, parseCount),
    totalItems: first(names.totalItems, parseCount),
    totalPages: first(names.totalPages, parseCount),
    hasNextPage: first(names.hasNextPage, parseFlag) ?? first(names.next, hasLink),
  };
}

/** The values of an object under their plain names, then those of its holders. */
function namedValues(object: JsonObject): (readonly [name: string, value: unknown])[] {
  const own = Object.entries(object).map(([key, value]) => [plainName(key), value] as const);
  const inner = own.filter(([name]) => holders.has(name)).map(([, holder]) => holder);
  return [...own, ...inner.filter(isRecord).flatMap(namedValues)];
}

/** `X-Total-Count`, and `Link` (RFC 8288). */
function valuesOfHeaders(headers: Headers): JsonObject {
  const links = headers.get("link") ?? "";
  return { total: headers.get("x-total-count"), ...(/\brel="?next\b/i.test(links) && { next: links }) };
}

function parseFlag(flag: unknown): boolean | undefined {
  return typeof flag === "boolean" ? flag : undefined;
}

/** A link, also as `{ href }`, or a page number. `null`, `false` and "" mean no next page. */
function hasLink(next: unknown): boolean {
  return Boolean(isRecord(next) && "href" in next ? next["href"] : next);
}
