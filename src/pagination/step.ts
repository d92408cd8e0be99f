import { UnexpectedResponseError } from "../errors.ts";
import { hasPageAfter } from "./has-next-page.ts";
import type { DecodedPage, PageSource } from "./page-source.ts";
import { advance, type Position } from "./position.ts";
import { compareWithBefore, isCycling, nothingSeen, type Repeats } from "./repeats.ts";

/** The state of an iteration after a page. */
export interface Progress {
  /** The page to fetch; `undefined` is the first page, without a `page` in the query. */
  readonly page: number | undefined;
  readonly repeats: Repeats;
  readonly position: Position | undefined;
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

export function startOf(source: PageSource<unknown>): Progress {
  return { page: source.page, repeats: nothingSeen, position: undefined };
}

/** Makes a step of one decoded page. Throws if the pages repeat. */
export function stepFrom<T>(source: PageSource<T>, before: Progress, decoded: DecodedPage<T>): Step<T> {
  const page = before.page ?? 1;
  const limit = smaller(source.countedLimit, decoded.limit);
  const compared = compareWithBefore(before.repeats, decoded.items, (item) => source.identify(item));
  const { newItems, isSamePage, repeats } = compared;
  const facts = { page, decoded, limit, isSamePage };
  const position = advance(before.position, facts);
  const hasNextPage = hasPageAfter(facts, position);
  const hasNothingNew = hasNextPage && repeats.pagesWithoutNewItem >= 2;
  if (hasNothingNew || isCycling(repeats)) throw repeatedPage(decoded, page);
  return {
    page,
    limit: limit ?? decoded.items.length,
    items: newItems,
    hasNextPage,
    decoded,
    next: { page: page + 1, repeats, position },
  };
}

function smaller(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined || other === 0)
    return one ?? (other === 0 ? undefined : other);
  return Math.min(one, other);
}

function repeatedPage(decoded: DecodedPage<unknown>, page: number): UnexpectedResponseError {
  return new UnexpectedResponseError({
    message: `Page ${page} repeats items of earlier pages: the service seems to repeat pages.`,
    outcome: "not-applied",
    status: decoded.status ?? 200,
    body: decoded.raw,
  });
}
