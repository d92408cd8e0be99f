/** `fetch`, or a function with its behaviour, such as that of a proxy or a test. The `fetch` of undici fits as it is. */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchResponse>;

/** The part of `RequestInit` that the client uses. */
export interface FetchInit {
  /** The HTTP method. */
  method: string;
  /** The headers, the authentication included, with their names in lower case. */
  headers: Record<string, string>;
  /** JSON; missing for a request without a body. */
  body?: string;
  /** The client follows no redirect. */
  redirect: "manual";
  /** Aborted by a timeout, and when the caller no longer waits. */
  signal: AbortSignal;
}

/** The part of a `Response` that the client reads; it may be of any implementation. */
export interface FetchResponse {
  /** The HTTP status. */
  readonly status: number;
  /** The headers, as `Headers` has them. */
  readonly headers: ForeignHeaders;
  /** A web stream of bytes; null for none. */
  readonly body: ForeignStream | null;
}

interface ForeignHeaders {
  forEach(callback: (value: string, name: string) => void): void;
}

interface ForeignStream {
  getReader(): {
    read(): Promise<{ done: boolean; value?: unknown }>;
    cancel(reason?: unknown): Promise<unknown>;
  };
}
