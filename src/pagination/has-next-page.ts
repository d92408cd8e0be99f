import type { PageFacts, Position } from "./position.ts";

/**
 * Whether the list goes on after a page. How a list answer tells is not documented ("Endpoints": response body shape),
 * so whatever is said is weighed, and a contradiction costs a request rather than items:
 *
 * - while items come, any sign of more is followed;
 * - after an empty page the totals decide, all of them, else the link or flag;
 * - a page that is the page before once more proves nothing, so one more is asked for;
 * - where nothing is said, a page that is shorter than the limit is the last.
 */
export function hasPageAfter(facts: PageFacts, position: Position): boolean {
  const { decoded, limit } = facts;
  const { length } = decoded.items;
  const totals = [hasNextByTotalPages(facts), hasNextByTotalItems(facts, position)].filter(
    (says) => says !== undefined,
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
  // A total below what this very page holds is none.
  if (totalItems === undefined || totalItems < items.length) return undefined;
  // A guessed place is good enough to go on where nothing better is said, never to go on over an empty page.
  const hasBetterSign = totalPages !== undefined || hasNextPage !== undefined;
  if (!position.isCertain && (hasBetterSign || items.length === 0)) return undefined;
  return position.itemsPassed < totalItems;
}
