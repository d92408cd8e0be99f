import type { Endpoint } from "../endpoint.ts";
import { isRecord, contentLost } from "../schema/kind-of.ts";
import { optionTypes } from "../schema/option.ts";
import { callOptionsSchema, type CallOptions } from "../transport/call-options.ts";
import type { CallEndpoint } from "../transport/transport.ts";
import type { DecodedPage } from "./has-next-page.ts";
import { Paginator } from "./paginator.ts";

/** Options of a list call. */
export interface ListOptions extends CallOptions {
  /** The number of pages that are fetched ahead of the consumer. Default 1; 0 fetches a page when it is needed. */
  readAhead?: number | undefined;
}

export interface ListCall<T> {
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

/** Copies an object, so that later changes of it have no effect. Undefined for any other value, also an unreadable one. */
function copyRecord<T extends object>(value: unknown): Partial<T> | undefined {
  try {
    if (value !== undefined && !(isRecord(value) && contentLost(value) === undefined)) return undefined;
    // Safe: each page's call validates it.
    return { ...(value as T | undefined) };
  } catch {
    return undefined;
  }
}
