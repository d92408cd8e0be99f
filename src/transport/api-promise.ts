import { isAudienceError, RateLimitWaitError } from "../errors.ts";

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

/** The Promise of a call's value. `summarize` is called when its response is asked for. */
export function apiPromise<T, Ended extends { readonly data: T }>(
  call: Promise<Ended>,
  summarize: (ended: Ended) => WithResponse<T>,
): ApiPromise<T> {
  const value = call.then(({ data }) => data);
  // Chained to `value`, so that its rejection is handled.
  return Object.assign(value, { withResponse: () => value.then(() => call.then(summarize)) });
}

/** The Promise of a call that has not begun. */
export function rejected(reason: unknown): ApiPromise<never> {
  const value = Promise.reject(reason);
  return Object.assign(value, { withResponse: () => value });
}

/**
 * Points an error's stack at the line that awaits it, where the runtime can. An error from a timer or an event has no line of
 * the caller. The error of a call beyond `maxQueued` was made without a stack, and stays so (D182).
 */
export function showCaller<E>(error: E): E {
  const isBare = error instanceof RateLimitWaitError && !error.stack?.includes("\n");
  if (isAudienceError(error) && !isBare && "captureStackTrace" in Error)
    Error.captureStackTrace(error, showCaller);
  return error;
}

/** Points the stack of a call's error at the line that made the call, by an error made when it started (D182). */
export function showCall<E>(error: E, { stack = "" }: Error): E {
  if (isAudienceError(error))
    error.stack = `${error.name}: ${error.message}${stack.slice(stack.indexOf("\n"))}`;
  return error;
}
