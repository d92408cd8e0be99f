import { AbortError } from "../errors.ts";
import { onAbort } from "../transport/abort.ts";
import { showCaller } from "../transport/api-promise.ts";

/** How a page is read: with a loop's own signal, and before the consumer has reached it. */
export interface Reading {
  readonly signal?: AbortSignal | undefined;
  readonly isReadAhead?: boolean;
}

/** What a loop needs of the calls' options. */
export interface LoopOptions {
  readonly readAhead?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Before a list goes on at a place; undefined at its end. */
interface Placed<Place> {
  readonly next: Place | undefined;
}

/** A minute's calls: no consumer needs more pages ahead. */
const mostReadAhead = 100;

/**
 * The pages of one loop, in order, from a place on or from a page that is already there. While the consumer works on a
 * page, the next ones are fetched, one at a time, because only the page before says whether there is another. A failure
 * is reported when the consumer reaches its page. The end of the loop aborts the page in flight.
 */
export async function* streamPages<Place, Page extends Placed<Place>>(
  load: (place: Place, reading: Reading) => Promise<Page>,
  { readAhead = 1, signal }: LoopOptions,
  start: Place,
  first?: Page,
): AsyncGenerator<Page, void, undefined> {
  const loop = new AbortController();
  const removeCallback = signal && onAbort(signal, () => loop.abort(signal.reason));
  const loadAfter = async (before: Promise<Placed<Place> | undefined>, isReadAhead: boolean) => {
    const place = (await before)?.next;
    return place && (await load(place, { signal: loop.signal, isReadAhead }));
  };
  const requested: Promise<Page | undefined>[] = first ? [Promise.resolve(first)] : [];
  let last: Promise<Placed<Place> | undefined> = Promise.resolve(first ?? { next: start });
  try {
    for (;;) {
      while (requested.length <= Math.min(readAhead, mostReadAhead)) {
        const next = loadAfter(last, requested.length > 0);
        // It is reported once the consumer reaches the page.
        next.catch(() => undefined);
        requested.push(next);
        last = next;
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
