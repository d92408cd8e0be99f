import { ValidationError } from "../errors.ts";
import { refusePlainLoop } from "../plain-loop.ts";
import { type Cursor, type DecodedPage, nextCursor } from "./cursor.ts";
import { itemsOf, type PageSource, streamPages } from "./page-stream.ts";

/** Where an iteration stands before a page: where it reads next, and the ids that have come. */
export interface Progress {
  readonly cursor: Cursor;
  /** More ids, if another iteration went on from here: the first `idCount` count. */
  readonly ids: Set<string>;
  readonly idCount: number;
}

/** A list, from its first page on. */
export interface ListSource<T> extends PageSource<Progress, ListPage<T>> {
  readonly start: Progress;
  /** The largest sizes of a page, as far as they are known: the smallest counts. */
  readonly limits: readonly (number | undefined)[];
  identify(item: T): string;
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

/** A page, and the iteration after it; undefined after the last one. */
export class ListPage<T> implements Page<T> {
  readonly items: readonly T[];
  readonly page: number;
  readonly limit: number;
  declare readonly totalItems?: number;
  declare readonly totalPages?: number;
  readonly hasNextPage: boolean;
  readonly raw: unknown;
  readonly #source: ListSource<T>;
  readonly #received: readonly T[];
  readonly #next: Progress | undefined;

  /** The page without the items that came before. Throws `UndecodableResponse` if the list has no end. */
  constructor(source: ListSource<T>, before: Progress, { items: received, raw, ...hints }: DecodedPage<T>) {
    const { totalItems, totalPages } = hints;
    // A page size of 0 counts as none.
    const limits = [...source.limits, hints.limit].filter(
      (size): size is number => size !== undefined && size > 0,
    );
    const limit = limits.length > 0 ? Math.min(...limits) : undefined;
    const known =
      before.ids.size === before.idCount ? before.ids : new Set([...before.ids].slice(0, before.idCount));
    const ids = received.map(source.identify);
    this.items = received.filter((_, at) => known.size < known.add(ids[at]!).size);
    const counts = { newCount: this.items.length, seenCount: known.size };
    const cursor = nextCursor(before.cursor, { ...hints, ...counts, ids, limit });
    this.page = before.cursor.page;
    this.limit = limit ?? received.length;
    if (totalItems !== undefined) this.totalItems = totalItems;
    if (totalPages !== undefined) this.totalPages = totalPages;
    this.hasNextPage = cursor !== undefined;
    this.raw = raw;
    this.#source = source;
    this.#received = received;
    this.#next = cursor && { cursor, ids: known, idCount: known.size };
  }

  /** All items of the page, also those that had come before. */
  get received(): readonly T[] {
    return this.#received;
  }

  /** Where the list goes on; undefined after the last page. */
  get next(): Progress | undefined {
    return this.#next;
  }

  async nextPage(): Promise<ListPage<T>> {
    if (this.#next) return await this.#source.load(this.#next);
    const message = `page ${this.page} is the last one: \`hasNextPage\` is false`;
    throw new ValidationError([{ path: ["page"], code: "no_next_page", message }]);
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<T> {
    return itemsOf(streamPages(this.#source, this.#source.start, this), this.#source.options);
  }
}

refusePlainLoop(ListPage.prototype, "item", "over `page.items` for those of this page alone");
