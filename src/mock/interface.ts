import type { MockFault } from "./faults.ts";
// Everything that a user of the mock gives it and gets from it.
import type { MockBooks } from "./organization-state.ts";
import type { MockRateLimitOptions, MockRateWindow } from "./rate-window.ts";
import type { MockRequest } from "./request-log.ts";
import type { MockOrganizationSeed } from "./seed.ts";
import type { MockVariants } from "./variants.ts";

/** How the mock behaves; everything is optional. */
export interface MockServiceOptions {
  /** Who is there at the start; default one organization with a list and a segment. */
  organizations?: readonly MockOrganizationSeed[];
  /** `false` (default, so that tests are fast), `"documented"`, windows, or windows with an algorithm. */
  rateLimits?: false | "documented" | readonly MockRateWindow[] | MockRateLimitOptions;
  /** What goes wrong from the start, and again after each `reset`; default nothing. */
  faults?: readonly MockFault[];
  /**
   * Milliseconds from sending to response: half of them pass before a request arrives. With `[min, max]` both the time
   * and the part before are random, so that requests can overtake each other.
   */
  latencyMs?: number | readonly [min: number, max: number];
  /** The time in milliseconds, for timestamps and rate limits; default `Date.now`. */
  clock?: () => number;
  /** For everything random, ids included; default 1. The same seed gives the same run. */
  seed?: number;
  /** What the service document leaves open. */
  variants?: Partial<MockVariants>;
}

/** What `new AudienceClient(…)` needs to talk to the mock. */
export interface MockClientOptions {
  /** Where the v1 family lives. */
  baseUrl: string;
  /** Where the v2 family lives. */
  baseUrlV2: string;
  /** The first key of the first organization. */
  apiKey: string;
  /** Only where it differs from `apiKey`. */
  apiKeyV2?: string;
  /** The first organization's. */
  appId: string;
  /** `false` where the mock has no rate limit, else its windows, in a limiter of the client's own. */
  rateLimiter: false | { windows: { limit: number; intervalMs: number }[] };
}

/** A `fetch` that never leaves the process. */
export type MockFetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** The service in memory: a door for requests, the books that it keeps, and what goes wrong. */
export interface MockService {
  /** Answers as the service would. Give it to a client as its `fetch`. */
  readonly fetch: MockFetch;
  /** Ready for `new AudienceClient(…)`, with the first organization's keys, over `mock.fetch`. */
  readonly clientOptions: MockClientOptions & { fetch: MockFetch };
  /** Copies of one organization's books as they are now. Throws where nobody has the id or key. */
  readonly organization: (idOrApiKey: string) => MockBooks;
  /** What arrived, in order. */
  readonly requests: readonly MockRequest[];
  /** One more thing that goes wrong, from the next request on. Of several that fit a request, the first strikes. */
  readonly addFault: (fault: MockFault) => void;
  /** Back to the start: the seed's books, its faults, no requests, an unused rate limit. Ends what hangs. */
  readonly reset: () => void;
  /** Serves real HTTP on loopback; loads `node:http` only now. */
  readonly listen: (options?: MockListenOptions) => Promise<MockListener>;
}

/** Where the mock listens; always on loopback. */
export interface MockListenOptions {
  /** Default 0: any free port. */
  port?: number;
}

/** A mock on a real socket. */
export interface MockListener {
  /** For example `http://127.0.0.1:49152`; both families live here. */
  readonly url: string;
  /** As `mock.clientOptions`, but without `fetch`, so that requests take the network. */
  readonly clientOptions: MockClientOptions;
  /** Cuts what is open, hanging requests too, and frees the port. */
  readonly close: () => Promise<void>;
  /** As `close`: `await using server = await mock.listen()`. */
  [Symbol.asyncDispose](): Promise<void>;
}
