/**
 * The effect of a write, over all attempts. If the write failed, it says whether sending it again is safe.
 *
 * - `"not-sent"`: no request left this machine.
 * - `"not-applied"`: the service responded that it changed nothing. The worst outcome of a GET.
 * - `"applied"`: the write succeeded. The tracing channel `audience-sdk:call` says so, and the error of a row of bulk that was
 *   stopped after a write of it was carried out.
 * - `"unknown"`: the service may have carried out the write. Send the same state again, unless a second mail could go out.
 */
export type Outcome = "not-sent" | "not-applied" | "applied" | "unknown";

/** The call that failed. `path` is the endpoint's template, because an id in it may be an e-mail address. */
export interface ErrorRequest {
  /** Identifies the call, also in hooks and on the tracing channels; not sent to the service. */
  readonly requestId: string;
  /** The name of the call: `"v1.customers.upsert"`. */
  readonly operation: string;
  /** The HTTP method. */
  readonly method: string;
  /** The endpoint's template, ids left out: `/api/v1/customer/{id}`. */
  readonly path: string;
  /** The number of requests that the client sent or tried to send. */
  readonly attempts: number;
}

/** The input of most constructors: message, outcome, and the facts of the class. */
export type Details<Facts> = Facts & { message: string; outcome: Outcome; cause?: unknown };

/** Assigns the facts that are not undefined. The transport completes an error with those of its call. */
export function assignFacts(error: Error, facts: object): void {
  for (const [name, fact] of Object.entries(facts)) if (fact !== undefined) Reflect.set(error, name, fact);
}

/** Why no response arrived: `"other"` if the runtime does not say. */
export type ConnectionFailureReason = "refused" | "dns" | "tls" | "reset" | "other";

/** One window of the rate limit: at most `limit` calls in any `intervalMs` milliseconds ("Limits"). */
export interface RateLimitWindow {
  /** The number of calls. */
  readonly limit: number;
  /** The window's length, in milliseconds. */
  readonly intervalMs: number;
}

export interface WaitFacts {
  waitMs: number;
  retryAt: Date;
  window?: RateLimitWindow | undefined;
}

export interface ResponseFacts {
  status: number;
  headers: Headers;
  body: unknown;
  retryAfterMs?: number | undefined;
}

/** One problem of an input. `path` leads to the field: `["identifiers", 0, "consent", "ip"]`. */
export interface ValidationIssue {
  /** The path to the field; empty for the input itself. */
  readonly path: (string | number)[];
  /** zod's code, such as `"too_big"` or `"unrecognized_keys"`. */
  readonly code: string;
  /** The rule, and the type or length that was found. */
  readonly message: string;
}
