import type { Redactor } from "./redact.ts";
import type { ReceivedResponse } from "./send.ts";

/** What `.withResponse()` tells of the answer. */
export interface ResponseSummary {
  /** The HTTP status. */
  readonly status: number;
  /** A key that the service echoes is taken out. */
  readonly headers: Headers;
  /** The address that was asked. */
  readonly url: string;
}

/** A call's value, with the answer it came in and what it took to get it. */
export interface WithResponse<T> {
  /** What awaiting the call alone gives. */
  readonly data: T;
  /** The answer, without its body. */
  readonly response: ResponseSummary;
  /** Requests sent, the first one included. */
  readonly attempts: number;
  /** Milliseconds spent waiting on this side: for the rate limit, and for earlier writes to the same contact. */
  readonly queuedMs: number;
}

/** The Promise of a call's value. `.withResponse()` gives its answer too; nothing is sent again for that. */
export interface ApiPromise<T> extends Promise<T> {
  /** The value with its answer. Rejects as the call does. */
  withResponse(): Promise<WithResponse<T>>;
}

/** A call's value, as the transport has it. */
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
      // By way of the value: a failure is heard of here, and an error's stack leads to whoever waits for one of the two.
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
