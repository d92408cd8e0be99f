import { UndecodableResponse } from "../schema/response-values.ts";

/** What a response says of the pages of its list. */
export interface ListHints {
  readonly limit?: number | undefined;
  readonly totalItems?: number | undefined;
  readonly totalPages?: number | undefined;
  /** Whether there is a next page, as a link or a flag says. */
  readonly hasNextPage?: boolean | undefined;
}

export interface DecodedPage<T> extends ListHints {
  readonly items: readonly T[];
}

/** Where a list is read next, and what of the pages before decides on its end. */
export interface Cursor {
  readonly page: number;
  /** The number of items before the page; undefined for a list that begins in the middle: its pages before count as full. */
  readonly itemsBefore?: number | undefined;
  /** The ids of the items of the page before, as they came. */
  readonly idsBefore?: readonly string[];
  /** How many pages in a row, up to the one before, held no new item. */
  readonly pagesWithoutNew?: number;
  /** Nothing tells surely that there is such a page: a 404 for it ends the list. */
  readonly endsBy404?: boolean;
  /** A page that is not full may have another one after it: only an empty one ends a list that tells nothing. */
  readonly untilEmpty?: boolean | undefined;
}

/** So many empty pages in a row are read, as far as the total counts them. */
const mostEmptyPages = 1_000;

export interface ReceivedPage extends ListHints {
  readonly pageIds: readonly string[];
  /** How many items of the page had not come before. */
  readonly newCount: number;
  /** How many items have come, with those of this page; each counts once. */
  readonly seenCount: number;
}

/**
 * Where the list goes on after a page, or undefined at its end: a link or a flag decides, else the number of pages, else
 * the number of items, else a full page (D148). Throws `UndecodableResponse` if the list has no end (D149).
 */
export function nextCursor(cursor: Cursor, received: ReceivedPage): Cursor | undefined {
  const { page } = cursor;
  const { pageIds, newCount, seenCount, limit, hasNextPage } = received;
  const isEmptyPage = pageIds.length === 0;
  const isRepeat = !isEmptyPage && newCount === 0 && pageIds.join() === cursor.idsBefore?.join();
  // A service that ignores `page` gives its first page for each.
  const isOnlyPage = isRepeat && seenCount === pageIds.length;
  const pagesWithoutNew = newCount > 0 ? 0 : (cursor.pagesWithoutNew ?? 0) + 1;
  const itemsBefore = cursor.itemsBefore ?? (page - 1) * (limit ?? pageIds.length);
  // A page of known items brings the list no nearer to its total.
  const itemsPassed = itemsBefore + (newCount > 0 ? pageIds.length : 0);

  const { isAhead, isHiding } = compareTotals(received, { page, itemsBefore, itemsPassed });
  // The last page would be the first one once more: the pages between are lost.
  if (isOnlyPage && hasNextPage === undefined && isAhead === false) throw withoutEnd(page, isEmptyPage);
  const isGap = isAhead === true && pagesWithoutNew === 1;
  const isFullPage = limit === undefined || cursor.untilEmpty ? !isEmptyPage : pageIds.length >= limit;
  if (!isGap && !(hasNextPage ?? isAhead ?? (isFullPage && !isRepeat))) return undefined;
  if (pagesWithoutNew > 1) {
    if (isHiding && hasNextPage === undefined && (isEmptyPage || (isRepeat && !isOnlyPage))) return undefined;
    // People whom the list does not show may be those of its last pages: an hour's calls show it.
    const isCounted =
      hasNextPage === undefined && isAhead === true && (limit ?? received.totalPages) !== undefined;
    if (!isEmptyPage || !isCounted || pagesWithoutNew > mostEmptyPages) throw withoutEnd(page, isEmptyPage);
  }
  const isShortPage = received.totalPages === undefined && pageIds.length < (limit ?? 0);
  const endsBy404 = hasNextPage === undefined && (isAhead === undefined || isHiding === true || isShortPage);
  const before = { itemsBefore: itemsPassed, idsBefore: pageIds, pagesWithoutNew };
  return { page: page + 1, ...before, endsBy404, untilEmpty: cursor.untilEmpty };
}

/** Whether a number says more, undefined without one: a number that the list has passed is wrong, and counts as none. */
function compareTotals(
  { pageIds, newCount, limit, totalItems, totalPages }: ReceivedPage,
  position: { readonly page: number; readonly itemsBefore: number; readonly itemsPassed: number },
): { readonly isAhead?: boolean; readonly isHiding?: boolean } {
  const { page, itemsBefore, itemsPassed } = position;
  if (totalPages !== undefined && (page <= totalPages || pageIds.length === 0))
    return { isAhead: page < totalPages };
  if (totalItems === undefined || itemsPassed > totalItems) return {};
  // So many pages would have held all items: it may count hidden ones (D250).
  const isReached = limit !== undefined && page >= Math.ceil(totalItems / limit);
  // After full pages this one has the rest: a first page may be one of a smaller size, a page without a new item a gap.
  const isRest = isReached && page > 1 && newCount > 0 && itemsBefore === (page - 1) * limit;
  const isAhead = itemsPassed < totalItems && !isRest;
  return { isAhead, isHiding: isAhead && isReached };
}

function withoutEnd(page: number, isEmptyPage: boolean): UndecodableResponse {
  return new UndecodableResponse(
    isEmptyPage
      ? `page ${page} is empty, and page ${page - 1} held no new item, although the response says that the list goes on. To read on, begin at page ${page + 1}.`
      : `page ${page} holds only items of earlier pages, although the response says that the list has more: the service seems to repeat pages.`,
  );
}
