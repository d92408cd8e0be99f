import * as z from "zod";
import type { Endpoint, ParsedResponse } from "../endpoint.ts";
import { NotFoundError } from "../errors.ts";
import { optionTypes, parseOptions } from "../schema/parse-options.ts";
import { showCaller } from "../transport/api-promise.ts";
import { type CallOptions, callOptionsSchema } from "../transport/call-options.ts";
import type { CallEndpoint } from "../transport/transport.ts";
import { contentLost } from "../values/in-words.ts";
import { isRecord, withoutPrototype } from "../values/predicates.ts";
import type { DecodedPage } from "./end-of-list.ts";
import { itemsOf, ListPage, type ListSource, type Page, type Progress, streamPages } from "./page.ts";

/**
 * A list. It sends nothing until it is awaited (one page) or iterated (every item).
 *
 * Awaiting it twice sends one request; each new iteration reads the list again. Leaving a loop early drops the pages
 * that were fetched ahead. If the list changes meanwhile, moved items may be skipped; no item is yielded twice. Two
 * consecutive pages without a new item end the loop: with an `UnexpectedResponseError`, if there may be more.
 *
 * ```ts
 * for await (const profile of audience.v1.customers.list()) console.log(profile.id);
 * for await (const page of audience.v1.customers.list().pages()) console.log(page.page, page.items.length);
 * const first500 = await audience.v2.lists.list().toArray({ max: 500 });
 * const third = await audience.v2.lists.list({ page: 3, limit: 20 });
 * ```
 */
export class Paginator<T> implements PromiseLike<Page<T>>, AsyncIterable<T> {
  readonly #source: ListSource<T>;
  #firstPage: Promise<Page<T>> | undefined;

  constructor(source: ListSource<T>) {
    this.#source = source;
  }

  /** Every item of the list, page after page. */
  [Symbol.asyncIterator](): AsyncIterableIterator<T> {
    return itemsOf(this.pages(), this.#source.options.signal);
  }

  /** The pages instead of their items, fetched ahead in the same way. */
  pages(): AsyncIterable<Page<T>> {
    return { [Symbol.asyncIterator]: () => streamPages(this.#source, this.#source.start) };
  }

  /** Every item in one array, or the first `max` (default: all), with no more pages than needed. */
  async toArray(options: { max?: number | undefined } = {}): Promise<T[]> {
    const { max } = parseOptions(toArrayOptionsSchema, options, "The options of toArray");
    const items: T[] = [];
    if (max === 0) return items;
    let page = await this.#source.load(this.#source.start);
    for (;;) {
      for (const item of page.items.slice(0, max - items.length)) items.push(item);
      if (items.length >= max || !page.hasNextPage) return items;
      page = await page.nextPage();
    }
  }

  /** @internal The pages after what has come so far: a read that was cut off goes on with them. */
  pagesAfter(before: Progress): AsyncIterable<ListPage<T>> {
    return streamPages(this.#source, before);
  }

  /** @internal What `console.log` shows. */
  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return "Paginator: `await` it for one page, or loop over it with `for await` for every item";
  }

  // oxlint-disable-next-line unicorn/no-thenable -- `await list()` is one page.
  then<Value = Page<T>, Failure = never>(
    onFulfilled?: ((page: Page<T>) => Value | PromiseLike<Value>) | null,
    onRejected?: ((reason: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Value | Failure> {
    // `await` calls `then` without a line of the caller: the error gets it when it arrives.
    this.#firstPage ??= this.#source.load(this.#source.start).catch((error: unknown) => {
      throw showCaller(error);
    });
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

const toArrayOptionsSchema = z.strictObject({ max: optionTypes.countOrAll.default(Infinity) });

/** Options of a list call. */
export interface ListOptions extends CallOptions {
  /** The number of pages that are fetched ahead of the consumer. Default 1; 0 fetches a page when it is needed. */
  readAhead?: number | undefined;
}

/** One list of the service, as a value. */
export interface ListEndpoint<T> extends Pick<Endpoint<undefined, unknown>, "operation" | "path"> {
  readonly query: z.ZodType;
  /** The largest page, if the service has a limit; the default `limit`. */
  readonly longestPage?: number;
  readonly identify: (item: T) => string;
  /** Makes the decoder for one list: its first page may show where the items of the next ones are. */
  readonly pageDecoder: () => (response: ParsedResponse) => DecodedPage<T>;
}

const paginatorOptionsSchema = callOptionsSchema.extend({ readAhead: optionTypes.count.optional() });

/** A list, page by page. Each page's call validates the query and the options: a wrong one rejects and never throws. */
export function listPages<T>(
  call: CallEndpoint,
  list: ListEndpoint<T>,
  givenQuery: unknown,
  givenOptions: unknown,
): Paginator<T> {
  const { operation, path, query: querySchema, longestPage, identify } = withoutPrototype(list);
  const decode = list.pageDecoder();
  const query = copyRecord<{ page?: number; limit?: number }>(givenQuery);
  const parsed =
    givenOptions === undefined ? undefined : paginatorOptionsSchema.safeParse(copyRecord(givenOptions));
  const options: ListSource<T>["options"] = withoutPrototype(parsed?.success ? parsed.data : {});
  // Not `??`: a null is an error, not a missing limit.
  const limit = query?.limit === undefined ? longestPage : query.limit;
  // A page that is no number is refused with the first call.
  const firstPage = typeof query?.page === "number" ? query.page : 1;
  const source: ListSource<T> = {
    start: { cursor: { page: firstPage }, ids: new Set(), idCount: 0 },
    options,
    // The service counts a larger limit as its largest page ("Limits").
    limits: [limit, longestPage],
    identify,
    load(before, signal = options.signal) {
      const { page, endsBy404 } = before.cursor;
      // Named one by one: a spread doubles the time of a call that is refused.
      const endpoint: Endpoint<undefined, ListPage<T>> = {
        operation,
        method: "GET",
        path,
        query: querySchema,
        options: paginatorOptionsSchema,
        // The page is made in the call, which fails if the list has no end.
        decode: (response) => new ListPage(source, before, decode(response), response.body),
      };
      const nextPage = page === firstPage ? {} : { page };
      const listPage = call(
        endpoint,
        { query: query ? { ...query, limit, ...nextPage } : givenQuery },
        parsed?.success || signal ? withoutPrototype({ ...options, signal }) : givenOptions,
      );
      if (!endsBy404) return listPage;
      return listPage.catch((error: unknown) => {
        if (error instanceof NotFoundError) return new ListPage(source, before, { items: [] }, error.body);
        throw error;
      });
    },
  };
  return new Paginator<T>(source);
}

/** Copies the query or options of a list call, against later changes. Undefined for what is no object. */
function copyRecord<T extends object>(value: unknown = {}): Partial<T> | undefined {
  // Safe: the call of each page validates the copy.
  return isRecord(value) && contentLost(value) === undefined
    ? withoutPrototype(value as Partial<T>)
    : undefined;
}
