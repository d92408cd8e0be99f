import type { MockFault } from "./faults.ts";
// The public interface of the mock.
import type { MockBooks } from "./organization-state.ts";
import type { MockRateLimitOptions, MockRateWindow } from "./rate-window.ts";
import type { MockRequest } from "./request-log.ts";
import type { MockOrganizationSeed } from "./seed.ts";
import type { MockVariants } from "./variants.ts";

/** Options of the mock. */
export interface MockServiceOptions {
  /** The organizations at the start; default one organization with a list and a segment. */
  organizations?: readonly MockOrganizationSeed[];
  /** `false` (the default, so that tests are fast), `"documented"`, windows, or windows with an algorithm. */
  rateLimits?: false | "documented" | readonly MockRateWindow[] | MockRateLimitOptions;
  /** The faults at the start, and again after each `reset`; default none. */
  faults?: readonly MockFault[];
  /**
   * Milliseconds from sending to response: half of them before the request arrives. With `[min, max]` the time and the
   * part before are random, so that requests can overtake each other.
   */
  latencyMs?: number | readonly [min: number, max: number];
  /** The clock for timestamps and rate limits, in milliseconds; default `Date.now`. */
  clock?: () => number;
  /** The seed of all random values, ids included; default 1. The same seed gives the same run. */
  seed?: number;
  /** The behaviour that the service document leaves open. */
  variants?: Partial<MockVariants>;
}

/** Options of a client of the mock. */
export interface MockClientOptions {
  /** The base URL of the v1 family. */
  baseUrl: string;
  /** The base URL of the v2 family. */
  baseUrlV2: string;
  /** The first key of the first organization. */
  apiKey: string;
  /** Present if it differs from `apiKey`. */
  apiKeyV2?: string;
  /** The app id of the first organization. */
  appId: string;
  /** `false` if the mock has no rate limit, else its windows, for a limiter of the client's own. */
  rateLimiter: false | { windows: { limit: number; intervalMs: number }[] };
}

/** A `fetch` that never leaves the process. */
export type MockFetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** The service in memory. */
export interface MockService {
  /** Responds as the service would. Pass it to a client as its `fetch`. */
  readonly fetch: MockFetch;
  /** Options for `new AudienceClient(…)`: the first organization's keys, and `mock.fetch`. */
  readonly clientOptions: MockClientOptions & { fetch: MockFetch };
  /** A copy of one organization's current state. Throws for an unknown id or key. */
  readonly organization: (idOrApiKey: string) => MockBooks;
  /** All requests that arrived, in order. */
  readonly requests: readonly MockRequest[];
  /** Adds a fault, from the next request on. Of several faults that match a request, the first applies. */
  readonly addFault: (fault: MockFault) => void;
  /** Restores the initial state and faults, clears requests and rate limits, and ends hanging requests. */
  readonly reset: () => void;
  /** Serves real HTTP on loopback; `node:http` is loaded at the first call. */
  readonly listen: (options?: MockListenOptions) => Promise<MockListener>;
}

/** Options of `listen`, which always listens on loopback. */
export interface MockListenOptions {
  /** Default 0: any free port. */
  port?: number;
}

/** A mock that listens on a socket. */
export interface MockListener {
  /** The URL of both families, such as `http://127.0.0.1:49152`. */
  readonly url: string;
  /** `mock.clientOptions` without `fetch`, so that requests use the network. */
  readonly clientOptions: MockClientOptions;
  /** Closes all connections, also those of hanging requests, and frees the port. */
  readonly close: () => Promise<void>;
  /** The same as `close`: `await using server = await mock.listen()`. */
  [Symbol.asyncDispose](): Promise<void>;
}
