import * as z from "zod";
import type { Endpoint } from "../endpoint.ts";
import { ValidationError } from "../errors.ts";
import { contentLost, isRecord } from "../schema/kind-of.ts";
import { optionTypes, parseOptions } from "../schema/parse-options.ts";
import { type CallOptions, callOptionsSchema } from "../transport/call-options.ts";
import type { CallEndpoint } from "../transport/transport.ts";
import type { DecodedPage } from "./has-next-page.ts";
import { type PageSource, type Step, cancelable, itemsOf, loadPage, readPages } from "./page-stream.ts";

/**
 * One page of a list. Iterating it yields its items and all items after them, with pages fetched ahead.
 *
 * ```ts
 * let page = await audience.v2.lists.list({ limit: 20 });
 * while (page.hasNextPage) page = await page.nextPage();
 * ```
 */
export interface Page<T> extends AsyncIterable<T> {
  /** The new items of this page: items of the page before are left out, if the list grew meanwhile. */
  readonly items: readonly T[];
  /** The number of the page, from 1. */
  readonly page: number;
  /** Items per page, from the call or the response; without either, the number of items received. */
  readonly limit: number;
  /** Present if the response states it. */
  readonly totalItems?: number;
  /** Present if the response states it, as a number or by a link to the last page. */
  readonly totalPages?: number;
  /** Whether there is, or may be, a page after this one. */
  readonly hasNextPage: boolean;
  /** Fetches the next page. Rejects with a `ValidationError` if there is none. */
  nextPage(): Promise<Page<T>>;
  /** The body of the response, unchanged. */
  readonly raw: unknown;
}

/**
 * A list. It sends nothing until it is awaited (one page) or iterated (every item).
 *
 * Awaiting it twice sends one request; each new iteration reads the list again. Leaving a loop early drops the pages
 * that were fetched ahead. If the list changes meanwhile, moved items may be skipped; items of the page before are not
 * yielded twice. Two consecutive pages without a new item end the loop: with an `UnexpectedResponseError`, if the response
 * says that there is more.
 *
 * ```ts
 * for await (const profile of audience.v1.customers.list()) console.log(profile.id);
 * for await (const page of audience.v1.customers.list().pages()) console.log(page.page, page.items.length);
 * const first500 = await audience.v2.lists.list().toArray({ max: 500 });
 * const third = await audience.v2.lists.list({ page: 3, limit: 20 });
 * ```
 */
export class Paginator<T> implements PromiseLike<Page<T>>, AsyncIterable<T> {
  readonly #source: PageSource<T>;
  #firstPage: Promise<Page<T>> | undefined;

  constructor(source: PageSource<T>) {
    this.#source = source;
  }

  /** Every item of the list, page after page. */
  [Symbol.asyncIterator](): AsyncIterableIterator<T> {
    const source = this.#source;
    return cancelable((cancelled) => itemsOf(readPages(source, cancelled), source.signal));
  }

  /** The pages instead of their items, fetched ahead in the same way. */
  pages(): AsyncIterable<Page<T>> {
    const source = this.#source;
    return {
      [Symbol.asyncIterator]: () => cancelable((cancelled) => pagesOf(source, readPages(source, cancelled))),
    };
  }

  /** Every item in one array, or the first `max` (default: all), with no more pages than needed. */
  async toArray(options: { max?: number | undefined } = {}): Promise<T[]> {
    const { max = Infinity } = parseOptions(toArrayOptionsSchema, options, "The options of toArray");
    const items: T[] = [];
    if (max === 0) return items;
    let step = await loadPage(this.#source);
    for (;;) {
      for (const item of step.items.slice(0, max - items.length)) items.push(item);
      if (items.length >= max || !step.hasNextPage) return items;
      step = await loadPage(this.#source, step.next);
    }
  }

  // oxlint-disable-next-line unicorn/no-thenable -- `await list()` is one page.
  then<Value = Page<T>, Failure = never>(
    onFulfilled?: ((page: Page<T>) => Value | PromiseLike<Value>) | null,
    onRejected?: ((reason: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Value | Failure> {
    this.#firstPage ??= loadPage(this.#source).then((step) => new ListPage(this.#source, step));
    return this.#firstPage.then(onFulfilled, onRejected);
  }

  /** Like a promise's; fetches the page, as awaiting does. */
  catch<Failure = never>(
    onRejected?: ((reason: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Page<T> | Failure> {
    return this.then(undefined, onRejected);
  }

  /** Like a promise's; fetches the page, as awaiting does. */
  finally(onFinally?: (() => void) | null): Promise<Page<T>> {
    return this.then(undefined).finally(onFinally);
  }
}

const toArrayOptionsSchema = z.strictObject({ max: optionTypes.countOrAll }).partial();

class ListPage<T> implements Page<T> {
  declare readonly items: readonly T[];
  declare readonly page: number;
  declare readonly limit: number;
  declare readonly totalItems?: number;
  declare readonly totalPages?: number;
  declare readonly hasNextPage: boolean;
  declare readonly raw: unknown;
  readonly #source: PageSource<T>;
  readonly #step: Step<T>;

  constructor(source: PageSource<T>, step: Step<T>) {
    const { items, page, limit, hasNextPage } = step;
    const { totalItems, totalPages, raw } = step.decoded;
    const totals = {
      ...(totalItems !== undefined && { totalItems }),
      ...(totalPages !== undefined && { totalPages }),
    };
    Object.assign(this, { items, page, limit, ...totals, hasNextPage, raw });
    this.#source = source;
    this.#step = step;
  }

  async nextPage(): Promise<Page<T>> {
    if (!this.hasNextPage) throw noNextPage(this.page);
    return new ListPage(this.#source, await loadPage(this.#source, this.#step.next));
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<T> {
    const source = this.#source;
    return cancelable((cancelled) => itemsOf(readPages(source, cancelled, this.#step), source.signal));
  }
}

async function* pagesOf<T>(
  source: PageSource<T>,
  steps: AsyncIterable<Step<T>>,
): AsyncGenerator<Page<T>, undefined, undefined> {
  for await (const step of steps) yield new ListPage(source, step);
  return undefined;
}

function noNextPage(page: number): ValidationError {
  const message = `page ${page} is the last one: \`hasNextPage\` is false`;
  return new ValidationError([{ path: ["page"], code: "no_next_page", message }]);
}

/** Options of a list call. */
export interface ListOptions extends CallOptions {
  /** The number of pages that are fetched ahead of the consumer. Default 1; 0 fetches a page when it is needed. */
  readAhead?: number | undefined;
}

interface ListCall<T> {
  readonly call: CallEndpoint;
  readonly endpoint: Endpoint<undefined, DecodedPage<T>>;
  /** As the user gave them: each page's call validates them, so that a wrong one rejects and never throws. */
  readonly query: unknown;
  readonly options: unknown;
  /** The largest page, if the service has a limit; the default `limit`. */
  readonly longestPage?: number;
  readonly identify: (item: T) => string;
}

const listOptionsSchema = callOptionsSchema.extend({ readAhead: optionTypes.count.optional() });

const defaultPriority = 5;
const lastPriority = 9;

/** A list of one family, page by page. */
export function listPages<T>({
  call,
  endpoint,
  query,
  options,
  longestPage,
  identify,
}: ListCall<T>): Paginator<T> {
  const givenQuery = copyRecord<{ page?: number; limit?: number }>(query);
  const givenOptions = copyRecord<ListOptions>(options);
  // Not `??`: a null is an error, not a missing limit.
  const limit = givenQuery?.limit === undefined ? longestPage : givenQuery.limit;
  const list = { ...endpoint, options: listOptionsSchema };
  return new Paginator<T>({
    page: givenQuery?.page,
    // The service counts a larger limit as its largest page ("Limits"). The call refuses one that is not a number.
    limit: typeof limit === "number" && longestPage !== undefined ? Math.min(limit, longestPage) : limit,
    readAhead: givenOptions?.readAhead,
    signal: givenOptions?.signal,
    identify,
    async load(page, { signal, isReadAhead }) {
      // A value that is not a plain object is passed on; the call refuses it.
      const pageQuery = givenQuery ? { ...givenQuery, page, limit } : query;
      const pageOptions = givenOptions
        ? { ...givenOptions, signal, priority: priorityOf(givenOptions, isReadAhead) }
        : options;
      const { data, response } = await call(list, { query: pageQuery }, pageOptions).withResponse();
      return { ...data, status: response.status };
    },
  });
}

/** A page that is fetched ahead has a lower priority than one that the consumer waits for (D29). */
function priorityOf({ priority }: ListOptions, isReadAhead: boolean): number | undefined {
  return isReadAhead ? Math.min((priority ?? defaultPriority) + 1, lastPriority) : priority;
}

/** Copies an object, so that later changes of it have no effect. Undefined for any other value. */
function copyRecord<T extends object>(value: unknown): Partial<T> | undefined {
  if (value !== undefined && !(isRecord(value) && contentLost(value) === undefined)) return undefined;
  // Safe: each page's call validates it.
  return { ...(value as T | undefined) };
}
