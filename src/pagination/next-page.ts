/** One decoded response of a list, with what it says of the rest. */
export interface DecodedPage<T> {
  readonly items: readonly T[];
  /** The page size that the response states. */
  readonly limit?: number | undefined;
  readonly totalItems?: number | undefined;
  readonly totalPages?: number | undefined;
  /** What a link or a flag says. */
  readonly hasNextPage?: boolean | undefined;
  readonly raw: unknown;
}

/** A page, and its position in the list. */
export interface PagePosition {
  readonly page: number;
  /** The items of the list up to the end of this page. */
  readonly itemsPassed: number;
  /** The smaller of the limits of request and response; undefined if there is none. */
  readonly limit: number | undefined;
  /** How many pages in a row, up to this one, hold no item that had not come before. */
  readonly pagesWithoutNewItem: number;
}

/** Whether the list has a page after this one: a link or a flag decides, else the totals, else a full page (D148). */
export function hasPageAfter(decoded: DecodedPage<unknown>, position: PagePosition): boolean {
  const { items, hasNextPage, totalItems, totalPages } = decoded;
  const { page, itemsPassed, limit, pagesWithoutNewItem } = position;
  const totals = [
    { total: totalPages, passed: page },
    { total: totalItems, passed: itemsPassed },
    // A total that was passed before is wrong.
  ].flatMap(({ total, passed }) => (total === undefined || total < passed ? [] : [total > passed]));
  const isTotalAhead = totals.includes(true);
  if (isTotalAhead && pagesWithoutNewItem === 1) return true;
  if (hasNextPage !== undefined) return hasNextPage;
  if (totals.length === 0) return limit === undefined ? items.length > 0 : items.length >= limit;
  // Items that came before bring the list no nearer to its total.
  const isRepetition = items.length > 0 && pagesWithoutNewItem > 0;
  return isRepetition || isTotalAhead;
}
