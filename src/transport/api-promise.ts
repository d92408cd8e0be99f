import type { Redactor } from "./redact.ts";
import type { ReceivedResponse } from "./send.ts";

/** The response, as `.withResponse()` returns it. */
export interface ResponseSummary {
  /** The HTTP status. */
  readonly status: number;
  /** An echoed API key is redacted. */
  readonly headers: Headers;
  /** The URL of the request. */
  readonly url: string;
}

/** A call's value, its response, and its cost. */
export interface WithResponse<T> {
  /** The value of the awaited call. */
  readonly data: T;
  /** The response, without its body. */
  readonly response: ResponseSummary;
  /** Requests sent, the first one included. */
  readonly attempts: number;
  /** Milliseconds that the client waited: for the rate limit, and for earlier writes to the same contact. */
  readonly queuedMs: number;
}

/** The Promise of a call's value. `.withResponse()` adds the response of the same request. */
export interface ApiPromise<T> extends Promise<T> {
  /** The value with its response. Rejects as the call does. */
  withResponse(): Promise<WithResponse<T>>;
}

/** The result of a call inside the transport. */
export interface CallResult<T> {
  readonly data: T;
  readonly response: ReceivedResponse;
  readonly attempts: number;
  readonly queuedMs: number;
}

export function apiPromise<T>(result: Promise<CallResult<T>>, redactor: Redactor): ApiPromise<T> {
  const value = result.then(({ data }) => data);
  return Object.assign(value, {
    withResponse() {
      // Chained to `value`, so that its rejection is handled, and an error's stack leads to the caller that awaits either.
      return value.then(() => result).then((each) => summarize(each, redactor));
    },
  });
}

function summarize<T>(
  { data, response, attempts, queuedMs }: CallResult<T>,
  redactor: Redactor,
): WithResponse<T> {
  const { status, headers, url } = response;
  return {
    data,
    response: { status, headers: redactor.headers(headers), url: redactor.string(url) },
    attempts,
    queuedMs,
  };
}
