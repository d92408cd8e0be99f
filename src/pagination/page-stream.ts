import * as z from "zod";
import { AbortError, UnexpectedResponseError, showCaller } from "../errors.ts";
import { optionTypes, parseOptions } from "../schema/parse-options.ts";
import { onAbort } from "../transport/abort.ts";
import { type DecodedPage, type Position, hasPageAfter, positionAfter } from "./has-next-page.ts";

/** A list that can be read page by page. */
export interface PageSource<T> {
  /** The first page to load, as the user gave it; `load` validates it. */
  readonly page: number | undefined;
  /** Items per page, as the service counts them. */
  readonly limit: number | undefined;
  /** The number of pages that are fetched ahead; default 1. */
  readonly readAhead: number | undefined;
  readonly signal: AbortSignal | undefined;
  /** Fetches one page. Rejects with an error of this package, and at once if the signal aborts. */
  load(
    page: number | undefined,
    options: { signal: AbortSignal | undefined; isReadAhead: boolean },
  ): Promise<DecodedPage<T>>;
  identify(item: T): string;
}

/** One page: its new items, and the state after it. */
export interface Step<T> {
  readonly page: number;
  readonly limit: number;
  readonly items: readonly T[];
  readonly hasNextPage: boolean;
  readonly decoded: DecodedPage<T>;
  readonly next: Progress;
}

/** The state of an iteration after a page. */
interface Progress {
  /** The page to fetch; `undefined` is the first page, without a `page` in the query. */
  readonly page: number | undefined;
  /** The ids of the last page with items. */
  readonly idsBefore: ReadonlySet<string>;
  readonly hasNewItem: boolean;
  /** The numbers of the pages with the same ends, over the whole iteration: a page that is met again and again. */
  readonly sightings: Map<string, Set<number>>;
  readonly position: Position | undefined;
}

function startOf({ page }: PageSource<unknown>): Progress {
  return {
    page,
    idsBefore: new Set(),
    hasNewItem: true,
    sightings: new Map(),
    position: undefined,
  };
}

/** Loads one page, without the items of the page before. Throws if the pages repeat (D26). */
async function loadStep<T>(
  source: PageSource<T>,
  before: Progress,
  options: { signal: AbortSignal | undefined; isReadAhead: boolean },
): Promise<Step<T>> {
  const decoded = await source.load(before.page, options);
  const page = before.page ?? 1;
  const ids = decoded.items.map((item) => source.identify(item));
  const items = decoded.items.filter((item) => !before.idsBefore.has(source.identify(item)));
  const idsHere = new Set(ids);
  const facts = {
    page,
    decoded,
    limit: smallerOf(source.limit, decoded.limit),
    isRepetition: items.length === 0 && idsHere.size === before.idsBefore.size,
    isSecondWithoutNewItem: items.length === 0 && !before.hasNewItem,
  };
  const position = positionAfter(facts, before.position);
  const hasNextPage = hasPageAfter(facts, position);
  if (hasNextPage && facts.isSecondWithoutNewItem) throw withoutEnd(decoded, page);
  // A list that grows by a page shows one page twice, so only the third time proves a circle.
  if (ids.length > 0 && timesSeen(ids, page, before.sightings) > 2) throw withoutEnd(decoded, page);
  const idsBefore = ids.length > 0 ? idsHere : before.idsBefore;
  return {
    page,
    limit: facts.limit ?? ids.length,
    items,
    hasNextPage,
    decoded,
    next: {
      page: page + 1,
      idsBefore,
      hasNewItem: items.length > 0,
      sightings: before.sightings,
      position,
    },
  };
}

/** The smaller one of those that are given; a page size of 0 counts as none. */
function smallerOf(requested: number | undefined, stated: number | undefined): number | undefined {
  return stated ? Math.min(requested ?? stated, stated) : requested;
}

/** How many pages so far, this one included, had this length, first and last item. */
function timesSeen(ids: readonly string[], page: number, sightings: Map<string, Set<number>>): number {
  const ends = JSON.stringify([ids.length, ids[0], ids.at(-1)]);
  const pages = sightings.get(ends) ?? new Set();
  sightings.set(ends, pages.add(page));
  return pages.size;
}

function withoutEnd(decoded: DecodedPage<unknown>, page: number): UnexpectedResponseError {
  return new UnexpectedResponseError({
    message:
      decoded.items.length > 0
        ? `Page ${page} repeats items of earlier pages: the service seems to repeat pages.`
        : `Page ${page} is empty, and page ${page - 1} held no new item, but the response says that the list goes on. ` +
          `To read on, begin at page ${page + 1}.`,
    outcome: "not-applied",
    status: decoded.status ?? 200,
    body: decoded.raw,
  });
}

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

/** Each loop over a page counts for itself. */
function withOwnSightings<T>(step: Step<T>): Step<T> {
  const sightings = [...step.next.sightings].map(([ends, pages]) => [ends, new Set(pages)] as const);
  return { ...step, next: { ...step.next, sightings: new Map(sightings) } };
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
  let last = first && Promise.resolve<Step<T> | undefined>(withOwnSightings(first));
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
