// The public interface of the mock.
import type { MockFault, MockFaultKind } from "./faults.ts";
import type { MockOperation } from "./operations.ts";
import type { MockConsentChange, MockOrganizationState } from "./state/organization-state.ts";

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

/** Options of what a person does at the service. */
export interface MockPersonOptions {
  /** The id or a key of the person's organization. Default: the one that knows the person. */
  organization?: string | undefined;
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
  readonly organization: (idOrApiKey: string) => MockOrganizationState;
  /** All requests that arrived, in order. */
  readonly requests: readonly MockRequest[];
  /**
   * The entries of `consentHistory`, of all organizations, by which a request went over a refusal that stands: it raised the
   * channel, or hid the refusal (`NON_SUBSCRIBED` over `UNSUBSCRIBED`), or raised what was hidden so. `[]` in a sound system.
   *
   * Every refusal stands, whoever wrote it: a person (`unsubscribe`), a seed, or a request, as it brings the word of a person.
   * `is_suppressed: true` is one, too. It stands until the person confirms (`confirm`) or asks again (`asksAgain`): a test in
   * which she returns on your own site says so by the latter.
   */
  readonly resubscriptions: readonly MockConsentChange[];
  /** Adds a fault, from the next request on. Of several faults that match a request, the first applies. */
  readonly addFault: (fault: MockFault) => void;
  /**
   * A person unsubscribes at the service, as by the link in a mail: no request arrives. `person` is an e-mail address, a phone
   * number or a contact's id. Throws for a person that it does not know, or that two organizations know.
   */
  readonly unsubscribe: (
    person: string,
    options?: MockPersonOptions & { channel?: "email" | "phone" | undefined },
  ) => void;
  /**
   * A person follows the link in the mail of a double opt-in: the e-mail channel becomes `SUBSCRIBED`. Throws as `unsubscribe`
   * does, and for a contact without `double_opt_in`, as it got no such mail.
   */
  readonly confirm: (person: string, options?: MockPersonOptions) => void;
  /**
   * A person asks again on your own site, before your request about it: what a request raises after it is no resubscription,
   * until she refuses again. Without `channel` it concerns all channels and a suppression. Throws as `unsubscribe` does.
   *
   * ```ts
   * mock.asksAgain("ada@example.com");
   * await audience.v1.customers.upsert({ email: "ada@example.com", email_opt_in: "SUBSCRIBED" });
   * mock.resubscriptions; // []
   * ```
   */
  readonly asksAgain: (
    person: string,
    options?: MockPersonOptions & { channel?: "email" | "phone" | undefined },
  ) => void;
  /** Waits until no webhook call is under way, retries included. */
  readonly settled: () => Promise<void>;
  /**
   * Restores the initial state and faults, clears requests and rate limits, and ends webhook calls and hanging requests. Those
   * that have not arrived end as a reset connection.
   */
  readonly reset: () => void;
  /** Serves real HTTP, on loopback unless `host` names another address; `node:http` is loaded at the first call. */
  readonly listen: (options?: MockListenOptions) => Promise<MockListener>;
}

/**
 * Options of `listen`. Without `host` it listens on loopback alone. Every request needs a `Host` of loopback
 * (`localhost`, `127.0.0.1`, `[::1]`), of the one address that it listens on, or of `allowHosts`, with any port: else a page
 * of another site could read and change the mock, under a name of its own that leads to loopback.
 *
 * ```ts
 * await mock.listen({ port: 4010, host: "0.0.0.0", allowHosts: ["mock"] }); // in a container that others call "mock"
 * ```
 */
export interface MockListenOptions {
  /** Default 0: any free port. */
  port?: number | undefined;
  /** The address to listen on, such as `"0.0.0.0"` for all: other machines can then reach it. Default `"127.0.0.1"`. */
  host?: string | undefined;
  /** Further names that requests may give as their `Host`. Default none. */
  allowHosts?: readonly string[] | undefined;
}

/** A mock that listens on a socket. */
export interface MockListener {
  /** The URL of both families, such as `http://127.0.0.1:49152`; that of loopback if it listens on all addresses. */
  readonly url: string;
  /** `mock.clientOptions` without `fetch`, so that requests use the network. */
  readonly clientOptions: MockClientOptions;
  /** Closes all connections, also those of hanging requests, and frees the port. */
  readonly close: () => Promise<void>;
  /** The same as `close`: `await using server = await mock.listen()`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** A request that arrived. */
export interface MockRequest {
  /** `undefined` if no endpoint has this method and path. */
  operation: MockOperation | undefined;
  /** In upper case. */
  method: string;
  /** As it arrived, percent-encoding included. */
  path: string;
  /** Decoded. */
  query: Record<string, string>;
  /** Names in lower case. The mock's API keys are not secret. */
  headers: Record<string, string>;
  /** The parsed JSON; the string if it is no JSON, or nested deeper than 1,000 levels; `undefined` if there was none. */
  body: unknown;
  /** The status of the response; `undefined` before the response, and if the connection broke. */
  status: number | undefined;
  /** Whether the request changed the state, whatever the response. */
  applied: boolean;
  /** The fault that affected the request. */
  fault?: MockFaultKind;
  /** The time of arrival by the mock's clock, ISO 8601. */
  at: string;
  /** The same in milliseconds. */
  arrivedAtMs: number;
  /** Milliseconds from arrival to the response or the broken connection, by the mock's clock; `undefined` before. */
  durationMs: number | undefined;
  /** The rule that refused the request, with the section of the service document: `email is required ("v1 contact")`. */
  refusedFor?: string;
}
