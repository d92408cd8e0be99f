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
export function goesOn(facts: PageFacts, position: Position): boolean {
  const { reading, limit } = facts;
  const { length } = reading.items;
  const totals = [sayTotalPages(facts), sayTotalItems(facts, position)].filter((says) => says !== undefined);
  if (length === 0) return totals.length > 0 ? totals.every(Boolean) : reading.hasNextPage === true;
  if (facts.isSamePage) return true;
  const signs = reading.hasNextPage === undefined ? totals : [...totals, reading.hasNextPage];
  if (signs.length > 0) return signs.some(Boolean);
  return limit === undefined || length >= limit;
}

function sayTotalPages({ page, reading }: PageFacts): boolean | undefined {
  const { totalPages, items } = reading;
  if (totalPages === undefined || (totalPages === 0 && items.length > 0)) return undefined;
  return page < totalPages;
}

function sayTotalItems({ reading }: PageFacts, position: Position): boolean | undefined {
  const { totalItems, totalPages, hasNextPage, items } = reading;
  // A total below what this very page holds is none.
  if (totalItems === undefined || totalItems < items.length) return undefined;
  // A guessed place is good enough to go on where nothing better is said, never to go on over an empty page.
  const isBetterSaid = totalPages !== undefined || hasNextPage !== undefined;
  if (!position.isCertain && (isBetterSaid || items.length === 0)) return undefined;
  return position.itemsPassed < totalItems;
}
