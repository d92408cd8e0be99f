/** What one answer of a list says. Everything but `items` may be missing, and may contradict itself. */
export interface DecodedPage<T> {
  readonly items: readonly T[];
  /** The server's own page size. */
  readonly limit?: number | undefined;
  readonly totalItems?: number | undefined;
  readonly totalPages?: number | undefined;
  readonly hasNextPage?: boolean | undefined;
  /** The answer's body. */
  readonly raw: unknown;
  /** The answer's, for an error about it. */
  readonly status?: number;
}

/** A list that can be read page by page. What a page costs, and how it is asked for, is behind `load`. */
export interface PageSource<T> {
  /** Where to start, as the user gave it; `undefined` is the first page. `load` judges it. */
  readonly page: number | undefined;
  /** How many items a page is asked to hold, as it is sent. */
  readonly limit: number | undefined;
  /** The same, as the service counts it: over 100 is 100 ("Limits"). */
  readonly countedLimit: number | undefined;
  /** How many pages are read while the consumer works; 1 where it is `undefined`. */
  readonly readAhead: number | undefined;
  readonly signal: AbortSignal | undefined;
  /** Asks for one page. Rejects with an error of ours, at once where the signal aborts. */
  load(
    page: number | undefined,
    options: { signal: AbortSignal | undefined; isReadAhead: boolean },
  ): Promise<DecodedPage<T>>;
  identify(item: T): string | undefined;
}
