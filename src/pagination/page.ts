import { NotFoundError, ValidationError } from "../errors.ts";
import { type Cursor, type DecodedPage, nextCursor } from "./cursor.ts";
import { itemsOf, type LoopOptions, type Reading, streamPages } from "./page-stream.ts";

/** Where an iteration stands before a page: where it reads next, and the ids that have come. */
export interface Progress {
  readonly cursor: Cursor;
  /** More ids, if another iteration went on from here: the first `idCount` count. */
  readonly ids: Set<string>;
  readonly idCount: number;
}

/** A list that can be read page by page. */
export interface PageSource<T> {
  /** The first page, and what came before it. */
  readonly start: Progress;
  /** Items per page, as the service counts them. */
  readonly limit: number | undefined;
  /** The call's options; none if one is wrong, which `load` refuses. */
  options(): LoopOptions;
  /**
   * Fetches one page, the first one as the user asked for it. Rejects with an error of this package, and at once if the
   * signal aborts. `accept` is a part of the call: if it throws `UndecodableResponse`, the call fails with that response.
   */
  load<Accepted>(
    page: number,
    reading: Reading,
    accept: (decoded: DecodedPage<T>) => Accepted,
  ): Promise<Accepted>;
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
  declare readonly items: readonly T[];
  declare readonly page: number;
  declare readonly limit: number;
  declare readonly totalItems?: number;
  declare readonly totalPages?: number;
  declare readonly hasNextPage: boolean;
  declare readonly raw: unknown;
  readonly #source: PageSource<T>;
  readonly #received: readonly T[];
  readonly #next: Progress | undefined;

  constructor(
    source: PageSource<T>,
    values: Omit<Page<T>, keyof AsyncIterable<T> | "nextPage">,
    { received, next }: { received: readonly T[]; next: Progress | undefined },
  ) {
    Object.assign(this, values);
    this.#source = source;
    this.#received = received;
    this.#next = next;
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
    if (this.#next) return await loadPage(this.#source, this.#next);
    const message = `page ${this.page} is the last one: \`hasNextPage\` is false`;
    throw new ValidationError([{ path: ["page"], code: "no_next_page", message }]);
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<T> {
    return itemsOf(readPages(this.#source, this.#source.start, this), this.#source.options());
  }
}

/** The pages of one loop, after what has come so far or from a page that is there. */
export function readPages<T>(
  source: PageSource<T>,
  before: Progress,
  first?: ListPage<T>,
): AsyncGenerator<ListPage<T>, void, undefined> {
  return streamPages((place, reading) => loadPage(source, place, reading), source.options(), before, first);
}

/** Loads one page, by default the first. */
export async function loadPage<T>(
  source: PageSource<T>,
  before: Progress = source.start,
  reading: Reading = {},
): Promise<ListPage<T>> {
  const { page, mayBeMissing } = before.cursor;
  const accept = (decoded: DecodedPage<T>) => pageAfter(before, decoded, source);
  try {
    return await source.load(page, { signal: source.options().signal, ...reading }, accept);
  } catch (error) {
    if (!(mayBeMissing && error instanceof NotFoundError)) throw error;
    return accept({ items: [], raw: error.body });
  }
}

/** The page without the items that came earlier. Throws `UndecodableResponse` if the list has no end. */
function pageAfter<T>(before: Progress, decoded: DecodedPage<T>, source: PageSource<T>): ListPage<T> {
  const { items: received, raw, ...hints } = decoded;
  const { totalItems, totalPages } = hints;
  // A page size of 0 counts as none.
  const limit = hints.limit ? Math.min(source.limit ?? hints.limit, hints.limit) : source.limit;
  const known =
    before.ids.size === before.idCount ? before.ids : new Set([...before.ids].slice(0, before.idCount));
  const ids = received.map(source.identify);
  const items = received.filter((_, at) => known.size < known.add(ids[at]!).size);
  const counts = { newCount: items.length, seenCount: known.size };
  const cursor = nextCursor(before.cursor, { ...hints, ...counts, ids, limit });
  const values = {
    items,
    page: before.cursor.page,
    limit: limit ?? received.length,
    ...(totalItems !== undefined && { totalItems }),
    ...(totalPages !== undefined && { totalPages }),
    hasNextPage: cursor !== undefined,
    raw,
  };
  const next = cursor && { cursor, ids: known, idCount: known.size };
  return new ListPage(source, values, { received, next });
}
