import type { DecodedPage } from "../pagination/next-page.ts";
import { type JsonObject, parseCount } from "../schema/parse-response.ts";
import { isRecord } from "../schema/predicates.ts";
import { plainName } from "../schema/validation-issues.ts";

/** What a response says of the rest of a list. */
export type PageInfo = Omit<DecodedPage<unknown>, "items" | "raw">;

/**
 * The usual names, without case and separators, as none is documented ("Endpoints": response body shape). Of several
 * values the one that is named first here counts.
 */
const names = {
  holders: "links meta metadata pagination paging page pageinfo paginator pager",
  limit: "limit perpage pagesize itemsperpage",
  totalItems:
    "totalitems totalcount total totalresults totalrecords totalelements totalentries totalrows totalhits totaldocs totalsize " +
    "totalcustomers totalcontacts totalprofiles totalcontactgroups totalgroups totallists totalsegments " +
    "itemstotal recordstotal",
  /** Of the list, or of this page. */
  count: "count itemcount itemscount recordcount resultcount",
  totalPages: "totalpages pagestotal pagecount pagescount numpages numberofpages lastpage pages",
  hasNext: "hasnextpage hasnext hasmore hasmorepages hasmoreitems hasmoreresults more",
  isLast: "islastpage islast last",
  next: "next nextpage nextpageurl nextpagelink nexturl nextlink nexthref nextcursor nextpagetoken nexttoken",
  /** Links that stand beside one to the next page, if there is one. */
  otherPage: "prev previous prevpage previouspage prevpageurl previouspageurl last",
};

/** Reads links, totals and flags: in the objects around the items, in their holders, and in the headers. */
export function parsePageInfo(around: readonly JsonObject[], itemsHere: number, headers: Headers): PageInfo {
  const values = [...around, valuesOfHeaders(headers)].flatMap((object) => namedValues(object));
  const first = <Value>(among: string, parse: (value: unknown) => Value | undefined): Value | undefined =>
    among
      .split(" ")
      .flatMap((wanted) => values.filter(([name]) => name === wanted))
      .map(([, value]) => parse(value))
      .find((value) => value !== undefined);
  // A count that is not above the items here may be that of the page.
  const count = first(names.count, parseCount) ?? 0;
  const totalItems = first(names.totalItems, parseCount) ?? (count > itemsHere ? count : undefined);
  const totalPages = first(names.totalPages, parseCount);
  const hasNextPage =
    first(names.hasNext, parseFlag) ?? first(names.isLast, parseIsLast) ?? first(names.next, parseNext);
  const isNextLeftOut =
    totalItems === undefined && totalPages === undefined && first(names.otherPage, isLink);
  return {
    limit: first(names.limit, parseCount),
    totalItems,
    totalPages,
    hasNextPage: hasNextPage ?? (isNextLeftOut ? false : undefined),
  };
}

const holders = new Set(names.holders.split(" "));
const known = new Set(Object.values(names).flatMap((some) => some.split(" ")));
/** `meta.pagination.links` */
const mostHolders = 3;

/** The values of an object under their plain names, then those of its holders. */
function namedValues(object: JsonObject, depth = 0): (readonly [name: string, value: unknown])[] {
  const own = Object.entries(object)
    .map(([key, value]) => [plainName(key), value] as const)
    .filter(([name]) => known.has(name));
  if (depth === mostHolders) return own;
  const inner = own.filter(([name]) => holders.has(name)).map(([, holder]) => byRelation(holder));
  return [...own, ...inner.filter(isRecord).flatMap((holder) => namedValues(holder, depth + 1))];
}

/** Links as an array of `{ rel, href }` become an object. */
function byRelation(holder: unknown): unknown {
  if (!Array.isArray(holder)) return holder;
  return Object.fromEntries(holder.filter(isRecord).map(({ rel, href }) => [rel, href]));
}

/** `X-Total-Count`, and `Link` (RFC 8288). */
function valuesOfHeaders(headers: Headers): JsonObject {
  const links = headers.get("link") ?? "";
  const relations = ["next", "prev", "previous", "last"].filter((relation) =>
    new RegExp(`\\brel="?${relation}\\b`, "i").test(links),
  );
  const total = ["total", headers.get("x-total-count")] as const;
  return Object.fromEntries([total, ...relations.map((relation) => [relation, links] as const)]);
}

/** A flag, also as a number or a string: `1`, `"true"`. */
function parseFlag(flag: unknown): boolean | undefined {
  if (flag === "true" || flag === "false") return flag === "true";
  if (typeof flag === "boolean") return flag;
  const count = parseCount(flag);
  return count === undefined ? undefined : count > 0;
}

/** A number is the number of the last page, and a string a link to it. */
function parseIsLast(isLast: unknown): boolean | undefined {
  return typeof isLast === "boolean" ? !isLast : undefined;
}

/** A link, also as `{ href }`, a page number or a cursor. `null`, `false` and "" mean no next page. */
function parseNext(next: unknown): boolean | undefined {
  if (Array.isArray(next)) return undefined;
  return Boolean(isRecord(next) && "href" in next ? next["href"] : next);
}

/** Also none, as `null`. A number or a flag is no link. */
function isLink(link: unknown): true | undefined {
  return typeof link === "string" || typeof link === "object" || undefined;
}
