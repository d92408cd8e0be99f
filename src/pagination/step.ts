import { UnexpectedResponseError } from "../errors.ts";
import { goesOn } from "./next-page.ts";
import type { ParsedPage, PageSource } from "./page-source.ts";
import { moveOn, type Position } from "./position.ts";
import { compareWithBefore, isGoingRound, nothingSeen, type Repeats } from "./repeats.ts";

/** All that is kept of the pages read so far. A value: each page goes on from its own. */
export interface Progress {
  /** The page to ask for; `undefined` asks for the first without naming it. */
  readonly page: number | undefined;
  readonly repeats: Repeats;
  readonly position: Position | undefined;
}

/** One page read: its new items, and where the reading goes on. */
export interface Step<T> {
  readonly page: number;
  readonly limit: number;
  readonly items: readonly T[];
  readonly hasNextPage: boolean;
  readonly reading: ParsedPage<T>;
  readonly next: Progress;
}

export function startOf(source: PageSource<unknown>): Progress {
  return { page: source.page, repeats: nothingSeen, position: undefined };
}

/** Takes one answer in. Throws where going on would read the same pages for ever. */
export function takeStep<T>(source: PageSource<T>, before: Progress, reading: ParsedPage<T>): Step<T> {
  const page = before.page ?? 1;
  const limit = smaller(source.countedLimit, reading.limit);
  const compared = compareWithBefore(before.repeats, reading.items, (item) => source.identify(item));
  const { newItems, isSamePage, repeats } = compared;
  const facts = { page, reading, limit, isSamePage };
  const position = moveOn(before.position, facts);
  const hasNextPage = goesOn(facts, position);
  const hasNothingNew = hasNextPage && repeats.pagesWithoutNewItem >= 2;
  if (hasNothingNew || isGoingRound(repeats)) throw repeating(reading, page);
  return {
    page,
    limit: limit ?? reading.items.length,
    items: newItems,
    hasNextPage,
    reading,
    next: { page: page + 1, repeats, position },
  };
}

function smaller(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined || other === 0)
    return one ?? (other === 0 ? undefined : other);
  return Math.min(one, other);
}

function repeating(reading: ParsedPage<unknown>, page: number): UnexpectedResponseError {
  return new UnexpectedResponseError({
    message: `What page ${page} holds has come before: the service seems to repeat pages.`,
    outcome: "not-applied",
    status: reading.status ?? 200,
    body: reading.raw,
  });
}
