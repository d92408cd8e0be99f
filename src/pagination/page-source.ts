/** One decoded response of a list. All keys except `items` may be missing or contradict each other. */
export interface DecodedPage<T> {
  readonly items: readonly T[];
  /** The server's own page size. */
  readonly limit?: number | undefined;
  readonly totalItems?: number | undefined;
  readonly totalPages?: number | undefined;
  readonly hasNextPage?: boolean | undefined;
  /** The response's body. */
  readonly raw: unknown;
  /** The response's status, for errors. */
  readonly status?: number;
}

/** A list that can be read page by page. */
export interface PageSource<T> {
  /** The first page to load, as the user gave it; `load` validates it. */
  readonly page: number | undefined;
  /** The `limit` that is sent. */
  readonly limit: number | undefined;
  /** The limit as the service counts it: over 100 is 100 ("Limits"). */
  readonly countedLimit: number | undefined;
  /** The number of pages that are fetched ahead; default 1. */
  readonly readAhead: number | undefined;
  readonly signal: AbortSignal | undefined;
  /** Fetches one page. Rejects with an error of this package, and at once if the signal aborts. */
  load(
    page: number | undefined,
    options: { signal: AbortSignal | undefined; isReadAhead: boolean },
  ): Promise<DecodedPage<T>>;
  identify(item: T): string | undefined;
}
