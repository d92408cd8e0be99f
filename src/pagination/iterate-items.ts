import type { PageSource } from "./page-source.ts";
import { abortedBy, type PageStream } from "./page-stream.ts";

/**
 * The items of some pages, those at hand first.
 *
 * The generator keeps overlapping calls of `next()` in order; `return()` goes past it, so as not to wait for a page.
 */
export function iterateItems<T>(
  { signal }: PageSource<T>,
  { head = [], stream }: { head?: readonly T[]; stream: PageStream<T> | undefined },
): AsyncIterableIterator<T> {
  const items = generateItems(signal, head, stream);
  return {
    next: () => items.next(),
    return: async () => {
      await stream?.return();
      return items.return(undefined);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

async function* generateItems<T>(
  signal: AbortSignal | undefined,
  head: readonly T[],
  stream: PageStream<T> | undefined,
): AsyncGenerator<T, undefined, undefined> {
  if (head.length > 0) stream?.begin();
  yield* unlessAborted(head, signal);
  for await (const step of stream ?? []) yield* unlessAborted(step.items, signal);
  return undefined;
}

function* unlessAborted<T>(
  items: readonly T[],
  signal: AbortSignal | undefined,
): Generator<T, void, undefined> {
  for (const item of items) {
    if (signal?.aborted) throw abortedBy(signal);
    yield item;
  }
}
