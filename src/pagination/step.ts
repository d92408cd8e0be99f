import { UnexpectedResponseError } from "../errors.ts";
import { hasPageAfter, positionAfter, type DecodedPage, type Position } from "./has-next-page.ts";

/** A list that can be read page by page. */
export interface PageSource<T> {
  /** The first page to load, as the user gave it; `load` validates it. */
  readonly page: number | undefined;
  /** Items per page, as the service counts them. */
  readonly limit: number | undefined;
  /** The number of pages that are fetched ahead; default 1. */
  readonly readAhead: number | undefined;
  readonly signal: AbortSignal | undefined;
  /** Fetches one page. Rejects with an error of this package, and at once if the signal aborts. */
  load(
    page: number | undefined,
    options: { signal: AbortSignal | undefined; isReadAhead: boolean },
  ): Promise<DecodedPage<T>>;
  identify(item: T): string;
}

/** One page: its new items, and the state after it. */
export interface Step<T> {
  readonly page: number;
  readonly limit: number;
  readonly items: readonly T[];
  readonly hasNextPage: boolean;
  readonly decoded: DecodedPage<T>;
  readonly next: Progress;
}

/** The state of an iteration after a page. Its size does not grow with the list. */
export interface Progress {
  /** The page to fetch; `undefined` is the first page, without a `page` in the query. */
  readonly page: number | undefined;
  /** The ids of the last page with items. */
  readonly idsBefore: ReadonlySet<string>;
  readonly pagesWithoutNewItem: number;
  readonly bookmark: Bookmark;
  readonly position: Position | undefined;
}

/**
 * One earlier page, to detect that several pages repeat in a circle. It moves on after 1, 2, 4, 8, … pages (Brent's
 * algorithm), so that it comes to lie in a circle of any length, and is met again there.
 */
interface Bookmark {
  readonly page: string | undefined;
  readonly pagesSince: number;
  readonly stride: number;
  readonly timesMet: number;
}

export function startOf({ page }: PageSource<unknown>): Progress {
  return {
    page,
    idsBefore: new Set(),
    pagesWithoutNewItem: 0,
    bookmark: { page: undefined, pagesSince: 0, stride: 1, timesMet: 0 },
    position: undefined,
  };
}

/** Loads one page, without the items of the page before. Throws if the pages repeat (D26). */
export async function loadStep<T>(
  source: PageSource<T>,
  before: Progress,
  options: { signal: AbortSignal | undefined; isReadAhead: boolean },
): Promise<Step<T>> {
  const decoded = await source.load(before.page, options);
  const page = before.page ?? 1;
  const ids = decoded.items.map((item) => source.identify(item));
  const items = decoded.items.filter((item) => !before.idsBefore.has(source.identify(item)));
  const idsHere = new Set(ids);
  const facts = {
    page,
    decoded,
    limit: smallerOf(source.limit, decoded.limit),
    isRepetition: items.length === 0 && idsHere.size === before.idsBefore.size,
  };
  const position = positionAfter(facts, before.position);
  const hasNextPage = hasPageAfter(facts, position);
  const pagesWithoutNewItem = items.length === 0 ? before.pagesWithoutNewItem + 1 : 0;
  const bookmark = advance(before.bookmark, ids);
  // A list that grows by a page shows one page twice, so only the third time proves a circle.
  if ((hasNextPage && pagesWithoutNewItem >= 2) || bookmark.timesMet >= 2) throw repeatedPage(decoded, page);
  const idsBefore = ids.length > 0 ? idsHere : before.idsBefore;
  return {
    page,
    limit: facts.limit ?? ids.length,
    items,
    hasNextPage,
    decoded,
    next: { page: page + 1, idsBefore, pagesWithoutNewItem, bookmark, position },
  };
}

/** The smaller one of those that are given; a page size of 0 counts as none. */
function smallerOf(requested: number | undefined, stated: number | undefined): number | undefined {
  return stated ? Math.min(requested ?? stated, stated) : requested;
}

function advance(bookmark: Bookmark, ids: readonly string[]): Bookmark {
  if (ids.length === 0) return bookmark;
  const page = JSON.stringify([ids.length, ids[0], ids.at(-1)]);
  const pagesSince = bookmark.pagesSince + 1;
  if (page === bookmark.page) return { ...bookmark, pagesSince, timesMet: bookmark.timesMet + 1 };
  if (pagesSince < bookmark.stride) return { ...bookmark, pagesSince };
  return { page, pagesSince: 0, stride: bookmark.stride * 2, timesMet: 0 };
}

function repeatedPage(decoded: DecodedPage<unknown>, page: number): UnexpectedResponseError {
  return new UnexpectedResponseError({
    message: `Page ${page} repeats items of earlier pages: the service seems to repeat pages.`,
    outcome: "not-applied",
    status: decoded.status ?? 200,
    body: decoded.raw,
  });
}
