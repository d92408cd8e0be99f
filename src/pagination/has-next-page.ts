/** One decoded response of a list. Hints about the rest of the list may be missing or contradict each other. */
export interface DecodedPage<T> {
  readonly items: readonly T[];
  /** The server's own page size. */
  readonly limit?: number | undefined;
  readonly totalItems?: number | undefined;
  readonly totalPages?: number | undefined;
  readonly hasNextPage?: boolean | undefined;
  readonly raw: unknown;
}

/** The position in the list after a page, in items. */
export interface Position {
  readonly itemsPassed: number;
  /** False if the iteration began in the middle, and the number of items before it is a guess. */
  readonly isCertain: boolean;
  /** The largest number of items on one page so far: the page size of this server. */
  readonly largestPage: number;
}

/** A page, and what is known of it. */
export interface PageFacts {
  readonly page: number;
  readonly decoded: DecodedPage<unknown>;
  /** The smaller of the limits of request and response: a limit that is too small loses nothing. */
  readonly limit: number | undefined;
  /** The page holds what the page before held. */
  readonly isRepetition: boolean;
  /** Neither this page nor the one before holds a new item: the list ends here, with an error if it has more. */
  readonly isSecondWithoutNewItem: boolean;
}

/**
 * Whether the list continues after a page. The signs are not documented ("Endpoints": response body shape), so a
 * contradiction costs a request rather than items (D25). A repetition of the page before proves nothing.
 */
export function hasPageAfter(facts: PageFacts, position: Position): boolean {
  const { decoded, limit, isSecondWithoutNewItem } = facts;
  const { length } = decoded.items;
  const signsOfTotals = [hasNextByTotalPages(facts), hasNextByTotalItems(facts, position)];
  const totals = signsOfTotals.filter((sign) => sign !== undefined);
  if (length === 0 && totals.length > 0)
    return isSecondWithoutNewItem ? totals.every(Boolean) : totals.includes(true);
  if (length === 0) return decoded.hasNextPage === true;
  if (facts.isRepetition || decoded.hasNextPage || totals.includes(true)) return true;
  const saysNothing = totals.length === 0 && decoded.hasNextPage === undefined;
  return saysNothing && (limit === undefined || length >= limit);
}

function hasNextByTotalPages({ page, decoded }: PageFacts): boolean | undefined {
  const { totalPages, items } = decoded;
  if (totalPages === undefined || (totalPages === 0 && items.length > 0)) return undefined;
  return page < totalPages;
}

function hasNextByTotalItems(facts: PageFacts, position: Position): boolean | undefined {
  const { page, limit = 0, isSecondWithoutNewItem } = facts;
  const { totalItems, totalPages, hasNextPage, items, limit: statedLimit } = facts.decoded;
  // A total below the number of items that have come is wrong.
  const itemsSeen = position.isCertain ? position.itemsPassed : items.length;
  if (totalItems === undefined || totalItems < itemsSeen) return undefined;
  // A guessed position counts only without a better sign, and never for an error.
  const hasBetterSign = totalPages !== undefined || hasNextPage !== undefined;
  if (!position.isCertain && (hasBetterSign || isSecondWithoutNewItem)) return undefined;
  if (!isSecondWithoutNewItem) return position.itemsPassed < totalItems;
  // The total may count hidden items: at the end each page counts as a full one.
  const pageSize = statedLimit ? limit : position.largestPage || limit;
  return page * pageSize < totalItems;
}

/** The position after a page. Items are counted as they come, because a server may have a smaller page size of its own. */
export function positionAfter(facts: PageFacts, before: Position = startAt(facts)): Position {
  const { length } = facts.decoded.items;
  return {
    ...before,
    itemsPassed: before.itemsPassed + (facts.isRepetition ? 0 : length),
    largestPage: Math.max(before.largestPage, length),
  };
}

/** The position before the first page that is fetched, which may be in the middle of the list. */
function startAt({ page, decoded, limit }: PageFacts): Position {
  const { length } = decoded.items;
  const byLimit = (page - 1) * (limit ?? length);
  const itemsLeft = Math.max(0, (decoded.totalItems ?? Infinity) - byLimit);
  // A page of another length than its position requires has the server's own page size.
  const fits = limit !== undefined && (length === 0 || length === Math.min(limit, itemsLeft));
  const isCertain = page === 1 || fits;
  return { itemsPassed: isCertain ? byLimit : (page - 1) * length, isCertain, largestPage: 0 };
}
