import { UnexpectedResponseError } from "audience-sdk";
import type { DecodedPage } from "../../src/pagination/next-page.ts";
import type { PageSource } from "../../src/pagination/page-stream.ts";
import { Paginator } from "../../src/pagination/paginator.ts";
import { UndecodableResponse } from "../../src/schema/parse-response.ts";

export interface Item {
  readonly id: string;
}

/** `items(3, 5)` is the items "3" and "4". */
export function items(from: number, to: number): Item[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, at) => ({ id: String(from + at) }));
}

export const ids = (list: readonly Item[]) => list.map(({ id }) => id);

/** A response of a fake list: an array is a page without hints. */
export type PageResponse = readonly Item[] | (Hints & { items: readonly Item[] });

/** The hints of a response beside its items. */
export type Hints = Partial<Omit<DecodedPage<Item>, "items">>;

export interface Options {
  page?: number;
  limit?: number | undefined;
  readAhead?: number;
  signal?: AbortSignal;
}

type Load<T> = (
  page: number | undefined,
  reading: Parameters<PageSource<T>["load"]>[1],
) => Promise<DecodedPage<T>>;

/** A list whose pages come from `load`, and are refused as the transport refuses them. */
export function paginatorOf<T>(source: Omit<PageSource<T>, "load"> & { load: Load<T> }): Paginator<T> {
  return new Paginator<T>({
    ...source,
    async load(page, reading, accept) {
      const decoded = await source.load(page, reading);
      try {
        return accept(decoded);
      } catch (error) {
        if (!(error instanceof UndecodableResponse)) throw error;
        const { message } = error;
        throw new UnexpectedResponseError({
          message,
          outcome: "not-applied",
          status: 200,
          body: decoded.raw,
        });
      }
    },
  });
}

function listOf(options: Options, load: Load<Item>): Paginator<Item> {
  const { page, limit } = { limit: 100, ...options };
  return paginatorOf({ page, limit, options: () => options, load, identify: ({ id }) => id });
}

function pageOf(respond: PageResponse): DecodedPage<Item> {
  return "items" in respond ? { raw: respond, ...respond } : { items: respond, raw: respond };
}

/** A list that responds at once; `log` contains its requests in order: `"1"`, `"2 ahead"`. */
export function fakeList(responses: (page: number) => PageResponse, options: Options = {}) {
  const log: string[] = [];
  const load: Load<Item> = async (page = 1, { signal, isReadAhead }) => {
    signal?.throwIfAborted();
    log.push(isReadAhead ? `${page} ahead` : `${page}`);
    return pageOf(responses(page));
  };
  const paginator = listOf(options, load);
  return { paginator, log };
}

/** A list of these pages, followed by empty ones. */
export function fakeListOf(pages: readonly PageResponse[], options: Options = {}) {
  return fakeList((page) => pages[page - 1] ?? [], options);
}

/**
 * A list that responds under control of the test. `log` contains its requests, responses and aborts, in order.
 * Like the transport it rejects at once when its signal aborts.
 */
export function controlledList(options: Options = {}) {
  const log: string[] = [];
  const requests = new Map<
    number,
    { respond: (respond: PageResponse) => void; fail: (error: Error) => void }
  >();
  const load: Load<Item> = (page = 1, { signal, isReadAhead }) =>
    new Promise((resolve, reject) => {
      log.push(isReadAhead ? `request ${page} ahead` : `request ${page}`);
      const abort = () => {
        log.push(`abort ${page}`);
        reject(signal?.reason);
      };
      if (signal?.aborted) return abort();
      signal?.addEventListener("abort", abort, { once: true });
      const end = (event: string, settle: () => void) => {
        log.push(`${event} ${page}`);
        signal?.removeEventListener("abort", abort);
        settle();
      };
      requests.set(page, {
        respond: (respond) => end("response", () => resolve(pageOf(respond))),
        fail: (error) => end("fail", () => reject(error)),
      });
    });
  const paginator = listOf(options, load);
  const takeRequest = (page: number) => {
    const waiting = requests.get(page);
    if (!waiting) throw new Error(`page ${page} was not asked for; the log is: ${log.join(", ")}`);
    requests.delete(page);
    return waiting;
  };
  return {
    paginator,
    log,
    /** Responds to a current or imminent request for a page, and waits for the consequences. */
    respond: async (page: number, respond: PageResponse) => {
      await settled();
      takeRequest(page).respond(respond);
      await settled();
    },
    fail: async (page: number, error: Error) => {
      await settled();
      takeRequest(page).fail(error);
      await settled();
    },
  };
}

/** Runs all due promise callbacks, which come before the next turn of the event loop. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

export async function collect<T>(iterable: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = [];
  for await (const value of iterable) collected.push(value);
  return collected;
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
