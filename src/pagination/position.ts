import type { DecodedPage } from "./page-source.ts";

/** How far into the list the pages have come, counted in items. */
export interface Position {
  readonly itemsPassed: number;
  /** False where the reading began in the middle, and how many items lie before it can only be guessed. */
  readonly isCertain: boolean;
  /** The most items that came on one page: what a page of this server holds. */
  readonly largestPage: number;
}

/** What is known about one page when its place in the list is to be told. */
export interface PageFacts {
  readonly page: number;
  readonly decoded: DecodedPage<unknown>;
  /** The smaller of what was asked for and what the answer says: the two may differ, and too small loses nothing. */
  readonly limit: number | undefined;
  readonly isSamePage: boolean;
}

export function advance(before: Position | undefined, facts: PageFacts): Position {
  const start = before ?? startAt(facts);
  const { length } = facts.decoded.items;
  return {
    ...start,
    itemsPassed: start.itemsPassed + itemsPassedBy(facts, start),
    largestPage: Math.max(start.largestPage, length),
  };
}

/** An empty page in the middle stands for a page of items that are not shown; one that is the same again, for none. */
function itemsPassedBy(facts: PageFacts, start: Position): number {
  const { length } = facts.decoded.items;
  if (length > 0) return facts.isSamePage ? 0 : length;
  return start.largestPage > 0 ? start.largestPage : (facts.limit ?? 0);
}

function startAt({ page, decoded, limit }: PageFacts): Position {
  const pagesBefore = page - 1;
  if (pagesBefore === 0) return { itemsPassed: 0, isCertain: true, largestPage: 0 };
  const { length } = decoded.items;
  // A page that is not as long as its place in the list makes it was cut to a size of the server's own.
  if (
    limit === undefined ||
    (length > 0 && !fits(length, { pagesBefore, limit, totalItems: decoded.totalItems }))
  ) {
    return { itemsPassed: pagesBefore * length, isCertain: false, largestPage: 0 };
  }
  return { itemsPassed: pagesBefore * limit, isCertain: true, largestPage: 0 };
}

function fits(
  length: number,
  { pagesBefore, limit, totalItems }: { pagesBefore: number; limit: number; totalItems: number | undefined },
): boolean {
  if (totalItems === undefined) return true;
  return length === Math.min(limit, Math.max(0, totalItems - pagesBefore * limit));
}
