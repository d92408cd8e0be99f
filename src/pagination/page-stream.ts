import { AbortError, ValidationError } from "../errors.ts";
import { UndecodableResponse } from "../schema/parse-response.ts";
import { onAbort } from "../transport/abort.ts";
import { showCaller } from "../transport/api-promise.ts";
import { type DecodedPage, hasPageAfter } from "./next-page.ts";

/** A list that can be read page by page. */
export interface PageSource<T> {
  /** The first page to load, as the user gave it; `load` validates it. */
  readonly page: number | undefined;
  /** Items per page, as the service counts them. */
  readonly limit: number | undefined;
  /** The call's options; none if one is wrong, which `load` refuses. */
  options(): { readonly readAhead?: number | undefined; readonly signal?: AbortSignal | undefined };
  /**
   * Fetches one page. Rejects with an error of this package, and at once if the signal aborts. `accept` is a part of the
   * call: if it throws `UndecodableResponse`, the call fails with that response.
   */
  load<Accepted>(
    page: number | undefined,
    reading: Reading,
    accept: (decoded: DecodedPage<T>) => Accepted,
  ): Promise<Accepted>;
  identify(item: T): string;
}

/** How a page is read: with a loop's own signal, and before the consumer has reached it. */
interface Reading {
  readonly signal?: AbortSignal | undefined;
  readonly isReadAhead?: boolean;
}

/**
 * One page of a list. Iterating it yields its items and all items after them, with pages fetched ahead.
 *
 * ```ts
 * let page = await audience.v2.lists.list({ limit: 20 });
 * while (page.hasNextPage) page = await page.nextPage();
 * ```
 */
export interface Page<T> extends AsyncIterable<T> {
  /** The new items of this page: items of earlier pages are left out, if the list grew meanwhile. */
  readonly items: readonly T[];
  /** The number of the page, from 1. */
  readonly page: number;
  /** Items per page, from the call or the response; without either, the number of items received. */
  readonly limit: number;
  /** Present if the response states it. */
  readonly totalItems?: number;
  /** Present if the response states it. */
  readonly totalPages?: number;
  /** Whether there is, or may be, a page after this one. */
  readonly hasNextPage: boolean;
  /** Fetches the next page. Rejects with a `ValidationError` if there is none. */
  nextPage(): Promise<Page<T>>;
  /** The body of the response, unchanged. */
  readonly raw: unknown;
}

/** The state of an iteration after a page. */
interface Progress {
  /** The page to fetch; `undefined` is the first page, without a `page` in the query. */
  readonly page: number | undefined;
  /** The items of the list up to here; `undefined` before the first page. */
  readonly itemsPassed: number | undefined;
  /** The ids that have come, and more if another iteration went on from here: the first `idCount` count. */
  readonly ids: Set<string>;
  readonly idCount: number;
  readonly pagesWithoutNewItem: number;
}

class ListPage<T> implements Page<T> {
  declare readonly items: readonly T[];
  declare readonly page: number;
  declare readonly limit: number;
  declare readonly totalItems?: number;
  declare readonly totalPages?: number;
  declare readonly hasNextPage: boolean;
  declare readonly raw: unknown;
  readonly #source: PageSource<T>;
  readonly #progress: Progress;

  constructor(
    source: PageSource<T>,
    values: Omit<Page<T>, keyof AsyncIterable<T> | "nextPage">,
    progress: Progress,
  ) {
    Object.assign(this, values);
    this.#source = source;
    this.#progress = progress;
  }

  async nextPage(reading: Reading = {}): Promise<ListPage<T>> {
    if (!this.hasNextPage) {
      const message = `page ${this.page} is the last one: \`hasNextPage\` is false`;
      throw new ValidationError([{ path: ["page"], code: "no_next_page", message }]);
    }
    return await loadPage(this.#source, reading, this.#progress);
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<T> {
    return readItems(this.#source, this);
  }
}

/** Loads one page, by default the first. */
export async function loadPage<T>(
  source: PageSource<T>,
  reading: Reading = {},
  before: Progress = {
    page: source.page,
    itemsPassed: undefined,
    ids: new Set(),
    idCount: 0,
    pagesWithoutNewItem: 0,
  },
): Promise<ListPage<T>> {
  const { signal } = source.options();
  return await source.load(before.page, { signal, ...reading }, (decoded) =>
    pageAfter(before, decoded, source),
  );
}

/** The page without the items that came earlier. Throws `UndecodableResponse` if the list has no end (D149). */
function pageAfter<T>(before: Progress, decoded: DecodedPage<T>, source: PageSource<T>): ListPage<T> {
  const { items: received, totalItems, totalPages, raw } = decoded;
  const page = before.page ?? 1;
  // A page size of 0 counts as none.
  const limit = decoded.limit ? Math.min(source.limit ?? decoded.limit, decoded.limit) : source.limit;
  const itemsBefore = before.itemsPassed ?? (page - 1) * (limit ?? received.length);
  const ids =
    before.ids.size === before.idCount ? before.ids : new Set([...before.ids].slice(0, before.idCount));
  const items = received.filter((item) => ids.size < ids.add(source.identify(item)).size);
  const pagesWithoutNewItem = items.length > 0 ? 0 : before.pagesWithoutNewItem + 1;
  const itemsPassed = itemsBefore + received.length;
  const hasNextPage = hasPageAfter(decoded, { page, itemsPassed, limit, pagesWithoutNewItem });
  if (hasNextPage && pagesWithoutNewItem > 1) throw withoutEnd(decoded, page);
  const values = {
    items,
    page,
    limit: limit ?? received.length,
    ...(totalItems !== undefined && { totalItems }),
    ...(totalPages !== undefined && { totalPages }),
    hasNextPage,
    raw,
  };
  return new ListPage(source, values, {
    page: page + 1,
    itemsPassed,
    ids,
    idCount: ids.size,
    pagesWithoutNewItem,
  });
}

function withoutEnd({ items }: DecodedPage<unknown>, page: number): UndecodableResponse {
  const before = `and page ${page - 1} held no new item`;
  return new UndecodableResponse(
    items.length > 0
      ? `page ${page} holds only items of earlier pages, ${before}: the service seems to repeat pages.`
      : `page ${page} is empty, ${before}, but the response says that the list goes on. To read on, begin at page ${page + 1}.`,
  );
}

/** A minute's calls: no consumer needs more pages ahead. */
const mostReadAhead = 100;

/**
 * The pages of one loop, in order, from the first one or from a page that is already there. While the consumer works on a
 * page, the next ones are fetched, one at a time, because only the page before says whether there is another. A failure
 * is reported when the consumer reaches its page. The end of the loop aborts the page in flight.
 */
export async function* readPages<T>(
  source: PageSource<T>,
  first?: ListPage<T>,
): AsyncGenerator<ListPage<T>, void, undefined> {
  const { readAhead = 1, signal } = source.options();
  const loop = new AbortController();
  const removeCallback = signal && onAbort(signal, () => loop.abort(signal.reason));
  /** The page after another, or the first one; undefined after the last one. */
  const load = async (before: Promise<ListPage<T> | undefined> | undefined, isReadAhead: boolean) => {
    const reading = { signal: loop.signal, isReadAhead };
    if (!before) return await loadPage(source, reading);
    const page = await before;
    return page?.hasNextPage ? await page.nextPage(reading) : undefined;
  };
  let last = first && Promise.resolve<ListPage<T> | undefined>(first);
  const requested = last ? [last] : [];
  try {
    for (;;) {
      while (requested.length <= Math.min(readAhead, mostReadAhead)) {
        last = load(last, requested.length > 0);
        // It is reported once the consumer reaches the page.
        last.catch(() => undefined);
        requested.push(last);
      }
      const page = await requested.shift();
      if (!page) return;
      throwIfAborted(signal);
      yield page;
    }
  } catch (error) {
    // The page may have been fetched before the consumer asked for it.
    throw showCaller(error);
  } finally {
    removeCallback?.();
    loop.abort();
  }
}

/** The items of the same pages. */
export async function* readItems<T>(
  source: PageSource<T>,
  first?: ListPage<T>,
): AsyncGenerator<T, void, undefined> {
  const { signal } = source.options();
  for await (const { items } of readPages(source, first)) {
    for (const item of items) {
      throwIfAborted(signal);
      yield item;
    }
  }
}

/** An abort between two pages or items; a read changes nothing. */
function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new AbortError({ outcome: "not-applied", cause: signal.reason });
}
