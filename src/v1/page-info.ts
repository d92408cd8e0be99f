import { isRecord } from "../schema/kind-of.ts";
import { plainName } from "../schema/name-hint.ts";
import { parseCount, type JsonObject } from "../schema/response.ts";

/** Totals, page size and flags of a list response, under any of the usual names. */
export interface PageInfo {
  readonly limit?: number | undefined;
  readonly totalItems?: number | undefined;
  readonly totalPages?: number | undefined;
  readonly hasNextPage?: boolean | undefined;
}

/** The items of a response, unchanged, and its page info. */
export interface FoundPage extends PageInfo {
  readonly items: readonly unknown[];
}

/**
 * Parses links, totals and flags. None is documented ("Endpoints": response body shape). If two values differ, the one
 * that continues the list wins: the greater total, the smaller page, the existing next page.
 */
export function parsePageInfo(body: unknown, itemsHere: number): PageInfo {
  const holders = holdersOf(body);
  const links = holders.flatMap((holder) => valuesOf(holder, linkHolders)).filter(isRecord);
  const limits = counts(holders, limitNames).filter((limit) => limit > 0);
  // `count` may belong to the page or to the list: only a count above the number of items here is the list's.
  const totals = [
    ...counts(holders, totalNames),
    ...counts(holders, countNames).filter((count) => count > itemsHere),
  ];
  const pages = [...counts(holders, pagesNames), ...links.flatMap(lastPageOf)];
  const nextPages = [...holders.flatMap(nextPagesOf), ...links.flatMap(linkedNextPagesOf)];
  return {
    limit: combine(limits, smaller),
    totalItems: combine(totals, greater),
    totalPages: combine(pages, greater),
    hasNextPage: combine(nextPages, either),
  };
}

function combine<T>(found: readonly T[], better: (one: T, other: T) => T): T | undefined {
  return found.length > 0 ? found.reduce(better) : undefined;
}

// Not `Math.max(...counts)`: too many arguments would overflow the stack.
const greater = (one: number, other: number): number => Math.max(one, other);
const smaller = (one: number, other: number): number => Math.min(one, other);
const either = (one: boolean, other: boolean): boolean => one || other;

const wrappers = /^(meta|paging|page(info|r)?|paginat(ion|or))$/;
const linkHolders = /^links$/;
const limitNames = /^(limit|(items)?perpage|(page)?size)$/;
const totalNames =
  /^total(items|count|results|records|elements|rows|entries|customers|(contact)?groups|contacts|profiles|lists|segments)?$/;
const countNames = /^((items?|record)?count)$/;
const pagesNames = /^((total|num)?pages|pages?count|lastpage)$/;
const hasMoreNames = /^(has)?(more|next(page)?)$/;
const isLastNames = /^((is)?last|islastpage)$/;
const nextNames = /^next(page)?(url|link|cursor|token)?$/;

function valuesOf(holder: JsonObject, names: RegExp): unknown[] {
  return Object.keys(holder).flatMap((key) => (names.test(plainName(key)) ? [holder[key]] : []));
}

/** The body, its `data`, and their `meta`, `pagination`, …, also one inside another (`meta.pagination`). */
function holdersOf(body: unknown): JsonObject[] {
  if (!isRecord(body)) return [];
  const roots = [body, body["data"]].filter(isRecord);
  const first = roots.flatMap((root) => valuesOf(root, wrappers)).filter(isRecord);
  const second = first.flatMap((holder) => valuesOf(holder, wrappers)).filter(isRecord);
  return [...roots, ...first, ...second];
}

function counts(holders: readonly JsonObject[], names: RegExp): number[] {
  return holders
    .flatMap((holder) => valuesOf(holder, names))
    .map(parseCount)
    .filter((count) => count !== undefined);
}

function nextPagesOf(holder: JsonObject): boolean[] {
  const flags = valuesOf(holder, hasMoreNames).filter((flag) => typeof flag === "boolean");
  const ends = valuesOf(holder, isLastNames).filter((flag) => typeof flag === "boolean");
  return [...flags, ...ends.map((isLast) => !isLast), ...valuesOf(holder, nextNames).flatMap(parseNextPage)];
}

/** JSON:API: a null or missing link means no such page; `self` alone says nothing about pages. */
function linkedNextPagesOf(links: JsonObject): boolean[] {
  const nextPages = valuesOf(links, nextNames).flatMap(parseNextPage);
  if (nextPages.length > 0) return nextPages;
  return ["prev", "previous", "last"].some((name) => name in links) ? [false] : [];
}

/** A link as a string or as `{ href }`, a page number, or a cursor. null, `false` and "" mean no next page. */
function parseNextPage(next: unknown): boolean[] {
  if (next === undefined || Array.isArray(next)) return [];
  if (isRecord(next)) return "href" in next ? parseNextPage(next["href"]) : [true];
  return [Boolean(next)];
}

function lastPageOf(links: JsonObject): number[] {
  const last = isRecord(links["last"]) ? links["last"]["href"] : links["last"];
  const page =
    typeof last === "string" ? /[?&]page(?:\[number\]|%5Bnumber%5D)?=(\d+)/i.exec(last)?.[1] : undefined;
  const count = parseCount(page);
  return count === undefined ? [] : [count];
}
