import type { PageFacts, Position } from "./position.ts";

/**
 * Whether the list continues after a page. The signs are not documented ("Endpoints": response body shape), so a
 * contradiction costs a request rather than items:
 *
 * - after a page with items, any sign of more continues the list;
 * - after an empty page all totals must agree; without totals the link or flag decides;
 * - a repetition of the page before proves nothing, so one more page is fetched;
 * - without any sign, a page shorter than the limit is the last.
 */
export function hasPageAfter(facts: PageFacts, position: Position): boolean {
  const { decoded, limit } = facts;
  const { length } = decoded.items;
  const totals = [hasNextByTotalPages(facts), hasNextByTotalItems(facts, position)].filter(
    (sign) => sign !== undefined,
  );
  if (length === 0) return totals.length > 0 ? totals.every(Boolean) : decoded.hasNextPage === true;
  if (facts.isSamePage) return true;
  const signs = decoded.hasNextPage === undefined ? totals : [...totals, decoded.hasNextPage];
  if (signs.length > 0) return signs.some(Boolean);
  return limit === undefined || length >= limit;
}

function hasNextByTotalPages({ page, decoded }: PageFacts): boolean | undefined {
  const { totalPages, items } = decoded;
  if (totalPages === undefined || (totalPages === 0 && items.length > 0)) return undefined;
  return page < totalPages;
}

function hasNextByTotalItems({ decoded }: PageFacts, position: Position): boolean | undefined {
  const { totalItems, totalPages, hasNextPage, items } = decoded;
  // A total below the number of items on this page is wrong.
  if (totalItems === undefined || totalItems < items.length) return undefined;
  // A guessed position counts only without a better sign, and never after an empty page.
  const hasBetterSign = totalPages !== undefined || hasNextPage !== undefined;
  if (!position.isCertain && (hasBetterSign || items.length === 0)) return undefined;
  return position.itemsPassed < totalItems;
}
