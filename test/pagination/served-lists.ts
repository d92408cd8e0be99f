import { subscribe, unsubscribe } from "node:diagnostics_channel";
import {
  AudienceClient,
  type ClientOptions,
  type ContactGroup,
  type Fetch,
  type List,
  type Paginator,
} from "audience-sdk";
import { onTestFinished } from "vitest";

export { collect } from "../snapshot/fixture.ts";

const service = {
  baseUrl: "https://api.example.com",
  baseUrlV2: "https://api.example.com",
  apiKey: "abcdefgh",
  appId: "an-app",
  rateLimiter: false,
  maxRetries: 0,
} as const;

/** A client whose service responds to each page of any list with `respond(page)`. */
export function clientOf(respond: (page: number) => unknown, options: ClientOptions = {}): AudienceClient {
  return new AudienceClient({
    ...service,
    ...options,
    fetch: async (url) => {
      const given = respond(pageOf(url));
      return given instanceof Response ? given : Response.json(given);
    },
  });
}

const pageOf = (url: string): number => Number(new URL(url).searchParams.get("page") ?? 1);

export type Item = ContactGroup;

/** `items(3, 5)` is the items "3" and "4". */
export function items(from: number, to: number): Item[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, at) => ({ id: String(from + at) }));
}

export const ids = (list: readonly Item[]) => list.map(({ id }) => id);

/** What a response says of its list, besides the items. */
export interface Hints {
  readonly totalItems?: number | undefined;
  readonly totalPages?: number | undefined;
  readonly hasNextPage?: boolean | undefined;
  readonly limit?: number | undefined;
}

/** A page of a list: an array is one without hints. */
type Served = readonly Item[] | (Hints & { readonly items: readonly Item[] });

export interface ListOptions {
  readonly page?: number;
  readonly limit?: number;
  readonly readAhead?: number;
  readonly signal?: AbortSignal;
}

const bodyOf = (served: Served) => {
  const hints: Hints & { items: readonly Item[] } = "items" in served ? served : { items: served };
  const { items: data, totalItems, totalPages, hasNextPage, limit } = hints;
  return { data, total: totalItems, total_pages: totalPages, has_more: hasNextPage, per_page: limit };
};

function groupsOf({ page, limit = 100, ...options }: ListOptions, fetch: Fetch): Paginator<Item> {
  return new AudienceClient({ ...service, fetch }).v1.contactGroups.list({ page, limit }, options);
}

/** A v1 list, whose service responds at once; `log` contains the requested pages in order. */
export function servedList(respond: (page: number) => Served | Response, options: ListOptions = {}) {
  const log: number[] = [];
  const fetch: Fetch = async (url) => {
    log.push(pageOf(url));
    const served = respond(pageOf(url));
    return served instanceof Response ? served : Response.json(bodyOf(served));
  };
  return { paginator: groupsOf(options, fetch), log };
}

/** A list of these pages, followed by empty ones. */
export function servedListOf(pages: readonly Served[], options: ListOptions = {}) {
  return servedList((page) => pages[page - 1] ?? [], options);
}

/** A v2 list: the only one whose page size the client does not know, as it asks for none. `log` contains its queries. */
export function unsizedList(respond: (page: number) => Served) {
  const log: string[] = [];
  const { v2 } = new AudienceClient({
    ...service,
    fetch: async (url) => {
      log.push(new URL(url).search);
      const { data, total, total_pages, per_page } = bodyOf(respond(pageOf(url)));
      const lists = data.map(({ id }) => ({ uuid: id }));
      return Response.json({ data: { lists, total_items: total, total_pages, items_per_page: per_page } });
    },
  });
  const paginator: Paginator<List> = v2.lists.list({}, { readAhead: 0 });
  return { paginator, log };
}

/**
 * A list whose service responds under control of the test. `log` contains requests and responses in order, and `"abort"` for
 * each page whose call is given up; a request that was sent goes on meanwhile.
 */
export function controlledList(options: ListOptions = {}) {
  const log: string[] = [];
  const requests = new Map<number, { respond: (served: Served) => void; reset: () => void }>();
  const fetch: Fetch = (url) =>
    new Promise((resolve, reject) => {
      const page = pageOf(url);
      log.push(`request ${page}`);
      const reset = Object.assign(new TypeError("fetch failed"), { cause: { code: "ECONNRESET" } });
      requests.set(page, {
        respond: (served) => resolve(Response.json(bodyOf(served))),
        reset: () => reject(reset),
      });
    });
  const onError = (event: unknown) => {
    const { error } = event as { error?: { code: string } }; // as the channel gives it
    if (error?.code === "aborted") log.push("abort");
  };
  const channel = "tracing:audience-sdk:call:error";
  subscribe(channel, onError);
  onTestFinished(async () => {
    unsubscribe(channel, onError);
    for (const { reset } of requests.values()) reset();
    await settled();
  });
  const paginator = groupsOf(options, fetch);
  const takeRequest = async (page: number) => {
    await settled();
    const waiting = requests.get(page);
    if (!waiting) throw new Error(`page ${page} was not asked for; the log is: ${log.join(", ")}`);
    requests.delete(page);
    return waiting;
  };
  /** Responds to a current or imminent request for a page, and waits for the consequences. */
  const respond = async (page: number, served: Served) => {
    const request = await takeRequest(page);
    log.push(`response ${page}`);
    request.respond(served);
    await settled();
  };
  return {
    paginator,
    log,
    respond,
    /** The pages, once the first one has come, with so many items. */
    afterFirst: async (length = 100) => {
      const pages = paginator.pages()[Symbol.asyncIterator]();
      const first = pages.next();
      await respond(1, items(0, length));
      await first;
      return pages;
    },
    reset: async (page: number) => {
      const { reset } = await takeRequest(page);
      log.push(`reset ${page}`);
      reset();
      await settled();
    },
  };
}

/** Runs all that is due: a call needs a few turns of the event loop, for its body. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
}

/** The error that a promise rejects with. */
export async function errorOf(promise: PromiseLike<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("it did not reject");
}
