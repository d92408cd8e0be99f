import type { Endpoint } from "../endpoint.ts";
import { isRecord, contentLost } from "../schema/kind-of.ts";
import { optionTypes } from "../schema/option.ts";
import { callOptionsSchema, type CallOptions } from "../transport/call-options.ts";
import type { CallEndpoint } from "../transport/transport.ts";
import { Paginator, type PageReading } from "./paginator.ts";

/** Options of a list call: beside those of any call, how many pages are read while the consumer works. */
export interface ListOptions extends CallOptions {
  /** Pages. Default 1; 0 asks for a page only when it is wanted. */
  readAhead?: number | undefined;
}

export interface ListCall<T> {
  readonly call: CallEndpoint;
  readonly endpoint: Endpoint<undefined, PageReading<T>>;
  /** As the user gave them: checked with each page, so that a bad one rejects and never throws. */
  readonly query: unknown;
  readonly options: unknown;
  /** The most items that a page can hold, where there is such a bound: asked for, unless the user asks for fewer. */
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
  const asked = copyOf<{ page?: number; limit?: number }>(query);
  const given = copyOf<ListOptions>(options);
  // Not `??`: a null is refused with the page, not taken for one that was left out.
  const limit = asked?.limit === undefined ? longestPage : asked.limit;
  const list = { ...endpoint, options: listOptionsSchema };
  return new Paginator<T>({
    page: asked?.page,
    limit,
    countedLimit: countedAs(limit, longestPage),
    readAhead: given?.readAhead,
    signal: given?.signal,
    identify,
    async load(page, { signal, isReadAhead }) {
      // What is no object goes on as it is, to be refused where all calls are.
      const pageQuery = asked ? { ...asked, page, limit } : query;
      const pageOptions = given ? { ...given, signal, priority: priorityOf(given, isReadAhead) } : options;
      const { data, response } = await call(list, { query: pageQuery }, pageOptions).withResponse();
      return { ...data, status: response.status };
    },
  });
}

/** What the service counts of a limit. One that is no number is refused with the page, and never touched here. */
function countedAs(limit: number | undefined, longestPage: number | undefined): number | undefined {
  return typeof limit === "number" && longestPage !== undefined ? Math.min(limit, longestPage) : limit;
}

/** A page that nobody has asked for yet steps behind calls that somebody waits for. */
function priorityOf({ priority }: ListOptions, isReadAhead: boolean): number | undefined {
  return isReadAhead ? Math.min((priority ?? defaultPriority) + 1, lastPriority) : priority;
}

/** What is given, read once; undefined if it is no plain object, or one that cannot be read. */
function copyOf<T extends object>(value: unknown): Partial<T> | undefined {
  try {
    if (value !== undefined && !(isRecord(value) && contentLost(value) === undefined)) return undefined;
    return { ...(value as T | undefined) };
  } catch {
    return undefined;
  }
}
