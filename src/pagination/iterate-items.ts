import type { PageSource } from "./page-source.ts";
import { abortedBy, type PageStream } from "./page-stream.ts";

/**
 * Iterates the items of `head`, then those of the stream.
 *
 * The generator keeps overlapping calls of `next()` in order; `return()` bypasses it, so that it waits for no page.
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
