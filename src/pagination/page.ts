import { AbortError, ValidationError } from "../errors.ts";
import { UndecodableResponse } from "../schema/response-values.ts";
import { onAbort } from "../transport/abort-signal.ts";
import { showCaller } from "../transport/api-promise.ts";
import { describeShape } from "../values/in-words.ts";
import { isRecord } from "../values/predicates.ts";
import { type Cursor, type DecodedPage, nextCursor } from "./end-of-list.ts";

/** Where an iteration stands before a page: where it reads next, and the ids that have come. */
export interface Progress {
  readonly cursor: Cursor;
  /** More ids, if another iteration went on from here: the first `idCount` count. */
  readonly ids: Set<string>;
  readonly idCount: number;
}

/** A list, read page by page. */
export interface ListSource<T> {
  readonly start: Progress;
  /** The call's options. None if one is wrong, which `load` refuses. */
  readonly options: { readonly readAhead?: number | undefined; readonly signal?: AbortSignal | undefined };
  /** The largest sizes of a page, as far as they are known: the smallest counts. */
  readonly limits: readonly (number | undefined)[];
  identify(item: T): string;
  /** Rejects with an error of this package, and at once if the signal aborts: a loop has its own. */
  load(before: Progress, signal?: AbortSignal): Promise<ListPage<T>>;
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
  readonly #receivedItems: readonly T[];
  readonly #next: Progress | undefined;

  /** The page without the items that came before. Throws `UndecodableResponse` if the list has no end. */
  constructor(source: ListSource<T>, before: Progress, decoded: DecodedPage<T>, raw: unknown) {
    const { items: received, ...hints } = decoded;
    const { totalItems, totalPages } = hints;
    // A page size of 0 counts as none.
    const limits = [...source.limits, hints.limit].filter(
      (size): size is number => size !== undefined && size > 0,
    );
    const limit = limits.length > 0 ? Math.min(...limits) : undefined;
    const seenIds =
      before.ids.size === before.idCount ? before.ids : new Set([...before.ids].slice(0, before.idCount));
    const pageIds = received.map(source.identify);
    this.items = received.filter((_, at) => seenIds.size < seenIds.add(pageIds[at]!).size);
    const counts = { newCount: this.items.length, seenCount: seenIds.size };
    const cursor = nextCursor(before.cursor, { ...hints, ...counts, pageIds, limit });
    this.page = before.cursor.page;
    this.limit = limit ?? received.length;
    if (totalItems !== undefined) this.totalItems = totalItems;
    if (totalPages !== undefined) this.totalPages = totalPages;
    this.hasNextPage = cursor !== undefined;
    this.raw = raw;
    this.#source = source;
    this.#receivedItems = received;
    this.#next = cursor && { cursor, ids: seenIds, idCount: seenIds.size };
  }

  /** All items of the page, also those that came on earlier pages. */
  get received(): readonly T[] {
    return this.#receivedItems;
  }

  /** Where the list goes on after this page; undefined after the last one. */
  get next(): Progress | undefined {
    return this.#next;
  }

  async nextPage(): Promise<ListPage<T>> {
    if (this.#next) return await this.#source.load(this.#next);
    const message = `page ${this.page} is the last one: \`hasNextPage\` is false`;
    throw new ValidationError([{ path: ["page"], code: "no_next_page", message }]);
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<T> {
    return itemsOf(streamPages(this.#source, this), this.#source.options.signal);
  }
}

const mostReadAhead = 100;

/**
 * The pages of one loop, in order, from a cursor on or from a page that is there already. While the consumer works on
 * a page, the next ones are fetched, one at a time, because only the page before says whether there is another. A failure
 * is reported when the consumer reaches its page. The end of the loop aborts the page in flight.
 */
export async function* streamPages<T>(
  source: ListSource<T>,
  from: Progress | ListPage<T>,
): AsyncGenerator<ListPage<T>, void, undefined> {
  const { readAhead = 1, signal } = source.options;
  let endLoop: (() => void) | undefined;
  try {
    let page: ListPage<T> | undefined = from instanceof ListPage ? from : await source.load(from);
    // Only now is there anything that the end of the loop may abort.
    const loop = new AbortController();
    const removeCallback = signal && onAbort(signal, () => loop.abort(signal.reason));
    endLoop = () => (removeCallback?.(), loop.abort());
    const load = async (before: Progress | undefined) => before && (await source.load(before, loop.signal));
    const pagesAhead: Promise<ListPage<T> | undefined>[] = [];
    while (page) {
      throwIfAborted(signal);
      while (pagesAhead.length < Math.min(readAhead, mostReadAhead)) {
        const nextPage = (pagesAhead.at(-1) ?? Promise.resolve(page)).then((last) => load(last?.next));
        // Its failure is reported once the consumer reaches the page.
        nextPage.catch(() => undefined);
        pagesAhead.push(nextPage);
      }
      yield page;
      page = await (pagesAhead.shift() ?? load(page.next));
    }
  } catch (error) {
    // The page may have been fetched before the consumer asked for it.
    throw showCaller(error);
  } finally {
    endLoop?.();
  }
}

export async function* itemsOf<T>(
  pages: AsyncIterable<{ readonly items: readonly T[] }>,
  signal: AbortSignal | undefined,
): AsyncGenerator<T, void, undefined> {
  for await (const { items } of pages) {
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

/** Decodes the items of a page. The first one without an `id` ends the decoding: `decodeItem` gives undefined for it. */
export function decodeItems<T>(
  items: readonly unknown[],
  decodeItem: (item: unknown) => T | undefined,
  id: string,
  wayOut = "",
): T[] {
  return items.map((item, index) => {
    const decoded = decodeItem(item);
    if (decoded !== undefined) return decoded;
    throw new UndecodableResponse(
      `item ${index} of its list has no usable \`${id}\`: it is ${describeShape(item)}.${wayOut}`,
    );
  });
}

/** A 2xx without items that reports a failure must not become an empty list (D28). */
export function refuseFailure(items: readonly unknown[], body: unknown): void {
  if (items.length > 0 || !isRecord(body)) return;
  const { success, status, errors } = body;
  const hasErrors = Array.isArray(errors) && errors.length > 0;
  if (success === false || status === false || status === "error" || hasErrors)
    throw new UndecodableResponse("its body holds no items and says that the call failed.");
}
