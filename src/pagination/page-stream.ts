import * as z from "zod";
import { AbortError, showCaller } from "../errors.ts";
import { optionTypes, parseOptions } from "../schema/option.ts";
import { onAbort } from "../transport/abort.ts";
import { loadStep, startOf, type PageSource, type Progress, type Step } from "./step.ts";

/** Validated before the first call, which gets a signal of ours. */
const optionsSchema = z.strictObject({ readAhead: optionTypes.count, signal: optionTypes.signal }).partial();

/** Loads a page that the consumer waits for. */
export async function loadPage<T>(
  source: PageSource<T>,
  progress: Progress = startOf(source),
): Promise<Step<T>> {
  const { signal } = optionsOf(source);
  return await loadStep(source, progress, { signal, isReadAhead: false });
}

/** A minute's calls: no consumer needs more pages ahead. */
const mostReadAhead = 100;

/**
 * The pages of one loop, in order, from the first one or after a page that is already there. While the consumer works on
 * a page, the next ones are fetched, one at a time, because only the page before says whether there is another. A failure
 * is reported when the consumer reaches its page.
 */
export async function* readPages<T>(
  source: PageSource<T>,
  cancelled: AbortSignal,
  first?: Step<T>,
): AsyncGenerator<Step<T>, undefined, undefined> {
  const { readAhead: given = 1, signal } = optionsOf(source);
  const readAhead = Math.min(given, mostReadAhead);
  let last = first && Promise.resolve<Step<T> | undefined>(first);
  const requested = last ? [last] : [];
  try {
    for (;;) {
      while (requested.length <= readAhead) {
        last = loadAfter(last, requested.length > 0);
        // It is reported once the consumer reaches the page.
        last.catch(() => undefined);
        requested.push(last);
      }
      const step = await requested.shift();
      if (!step) return undefined;
      if (signal?.aborted) throw abortedBy(signal);
      yield step;
    }
  } catch (error) {
    if (cancelled.aborted) return undefined;
    // The page may have been fetched before the consumer asked for it.
    throw showCaller(error);
  }

  /** Loads the page after another, or the first one; undefined after the last one. */
  async function loadAfter(before: Promise<Step<T> | undefined> | undefined, isReadAhead: boolean) {
    const step = await before;
    if (before && !step?.hasNextPage) return undefined;
    cancelled.throwIfAborted();
    const controller = new AbortController();
    const signals = signal ? [cancelled, signal] : [cancelled];
    const removals = signals.map((one) => onAbort(one, () => controller.abort(one.reason)));
    try {
      return await loadStep(source, step?.next ?? startOf(source), {
        signal: controller.signal,
        isReadAhead,
      });
    } finally {
      removals.forEach((remove) => remove());
    }
  }
}

/** The items of pages, one by one. */
export async function* itemsOf<T>(
  pages: AsyncIterable<Step<T>>,
  signal: AbortSignal | undefined,
): AsyncGenerator<T, undefined, undefined> {
  for await (const { items } of pages) {
    for (const item of items) {
      if (signal?.aborted) throw abortedBy(signal);
      yield item;
    }
  }
  return undefined;
}

/** The iterator of a generator. Its `return()` cancels the page in flight, for which the generator's own would wait. */
export function cancelable<T>(
  generate: (cancelled: AbortSignal) => AsyncGenerator<T, undefined, undefined>,
): AsyncIterableIterator<T> {
  const cancellation = new AbortController();
  const values = generate(cancellation.signal);
  return {
    next: () => values.next(),
    return: () => {
      cancellation.abort();
      return values.return(undefined);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

function optionsOf({ readAhead, signal }: PageSource<unknown>) {
  return parseOptions(optionsSchema, { readAhead, signal }, "The options of a list");
}

/** An abort between two pages or items; a read changes nothing. */
function abortedBy(signal: AbortSignal): AbortError {
  return new AbortError({ outcome: "not-applied", cause: signal.reason });
}
