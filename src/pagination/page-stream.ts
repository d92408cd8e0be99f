import { AbortError } from "../errors.ts";
import { onAbort } from "../transport/abort.ts";
import { showCaller } from "../transport/api-promise.ts";

/** How a page is read: with a loop's own signal, and before the consumer has reached it. */
export interface Reading {
  readonly signal?: AbortSignal | undefined;
  readonly isReadAhead?: boolean;
}

/** What a loop needs of the call's options. */
interface LoopOptions {
  readonly readAhead?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A list that is read page by page. `Place` is where it goes on. */
export interface PageSource<Place, Page> {
  /** None if one is wrong, which `load` refuses. */
  readonly options: LoopOptions;
  /** Rejects with an error of this package, and at once if the signal aborts. */
  load(place: Place, reading?: Reading): Promise<Page>;
}

/** A minute's calls: no consumer needs more pages ahead. */
const mostReadAhead = 100;

/**
 * The pages of one loop, in order, from a place on or from a page that is already there. While the consumer works on a
 * page, the next ones are fetched, one at a time, because only the page before says whether there is another. A failure
 * is reported when the consumer reaches its page. The end of the loop aborts the page in flight.
 */
export async function* streamPages<Place, Page extends { readonly next: Place | undefined }>(
  source: PageSource<Place, Page>,
  start: Place,
  first?: Page,
): AsyncGenerator<Page, void, undefined> {
  const { readAhead = 1, signal } = source.options;
  const loop = new AbortController();
  const removeCallback = signal && onAbort(signal, () => loop.abort(signal.reason));
  const load = async (place: Place | undefined, isReadAhead: boolean) =>
    place && (await source.load(place, { signal: loop.signal, isReadAhead }));
  const ahead: Promise<Page | undefined>[] = [];
  try {
    let page = first ?? (await load(start, false));
    while (page) {
      throwIfAborted(signal);
      while (ahead.length < Math.min(readAhead, mostReadAhead)) {
        const next = (ahead.at(-1) ?? Promise.resolve(page)).then((last) => load(last?.next, true));
        // It is reported once the consumer reaches the page.
        next.catch(() => undefined);
        ahead.push(next);
      }
      yield page;
      page = await (ahead.shift() ?? load(page.next, false));
    }
  } catch (error) {
    // The page may have been fetched before the consumer asked for it.
    throw showCaller(error);
  } finally {
    removeCallback?.();
    loop.abort();
  }
}

/** The items of such pages. */
export async function* itemsOf<T>(
  pages: AsyncIterable<{ readonly items: readonly T[] }>,
  { signal }: LoopOptions,
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
