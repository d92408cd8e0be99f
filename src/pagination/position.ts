import type { DecodedPage } from "./page-source.ts";

/** The position in the list, in items. */
export interface Position {
  readonly itemsPassed: number;
  /** False if the iteration began in the middle, and the number of items before it is a guess. */
  readonly isCertain: boolean;
  /** The largest number of items on one page so far: the page size of this server. */
  readonly largestPage: number;
}

/** The facts about one page that decide its position. */
export interface PageFacts {
  readonly page: number;
  readonly decoded: DecodedPage<unknown>;
  /** The smaller of the limits of request and response: a limit that is too small loses nothing. */
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

/** An empty page counts as a page of hidden items; a repeated page counts as none. */
function itemsPassedBy(facts: PageFacts, start: Position): number {
  const { length } = facts.decoded.items;
  if (length > 0) return facts.isSamePage ? 0 : length;
  return start.largestPage > 0 ? start.largestPage : (facts.limit ?? 0);
}

function startAt({ page, decoded, limit }: PageFacts): Position {
  const pagesBefore = page - 1;
  if (pagesBefore === 0) return { itemsPassed: 0, isCertain: true, largestPage: 0 };
  const { length } = decoded.items;
  // A page of another length than its position requires has the server's own page size.
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
