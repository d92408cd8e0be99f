import {
  ApiError,
  ConnectionError,
  type AudienceError,
  type AuthenticationError,
  type RateLimitError,
  type RateLimitWaitError,
} from "../errors.ts";
import { longestWindowMs } from "../limits.ts";

const firstBackoffMs = 500;
const longestBackoffMs = 30_000;
const shortestRefusalMs = 1_000;

/** How an attempt that gave no value ended. */
export type FailedEnd =
  /** The limiter gave no permit. */
  | { readonly kind: "no-permit"; readonly error: RateLimitWaitError }
  /** The service refused the call for its rate. */
  | { readonly kind: "refused"; readonly error: RateLimitError }
  /** A 401, and the key function now gives another key. */
  | { readonly kind: "new-key"; readonly error: AuthenticationError; readonly key: string }
  /** Any other failure of the call. */
  | { readonly kind: "failed"; readonly error: AudienceError };

/** The part of a call that decides about its retries. */
export interface RetryPolicy {
  readonly maxRetries: number;
  /** Whether the call may be executed twice. */
  readonly isRepeatable: boolean;
  /** Whether a limiter makes all calls wait as long as a refusal asks. */
  readonly hasLimiter: boolean;
  /** Whether the call waits however often it is refused for its rate, as a row of bulk does. */
  readonly isPatient: boolean;
  /** A number from 0 to 1, for the backoff. */
  readonly random: () => number;
}

/** The attempt that follows a failed one. */
export interface NextAttempt {
  readonly waitMs: number;
  /** The limiter's pause is the wait: the retry joins the queue at once. */
  readonly isInPause: boolean;
  /** Whether the retry is one of `maxRetries`. */
  readonly isCounted: boolean;
  /** Whether the retry goes to the front of the queue. */
  readonly isInFront: boolean;
}

/** Plans the attempt that follows this end after so many retries; undefined: no retry. */
export function planRetry(end: FailedEnd, retries: number, policy: RetryPolicy): NextAttempt | undefined {
  switch (end.kind) {
    case "new-key":
      return uncounted(0);
    case "no-permit":
      // A full queue may have room long before the expected wait ends.
      return policy.isPatient
        ? uncounted(Math.max(Math.min(end.error.waitMs, longestBackoffMs), shortestRefusalMs))
        : undefined;
    case "refused":
      if (isWaitTooLong(end.error)) return undefined;
      if (policy.isPatient) return uncounted(Math.max(end.error.retryAfterMs ?? 0, shortestRefusalMs));
      return retries < policy.maxRetries ? afterRefusal(end.error.retryAfterMs, retries, policy) : undefined;
    case "failed":
      return retries < policy.maxRetries ? afterFailure(end.error, retries, policy) : undefined;
  }
}

/** Whether the service asks for a longer wait than any call makes. */
export function isWaitTooLong(failure: { readonly retryAfterMs?: number }): boolean {
  return (failure.retryAfterMs ?? 0) > longestWindowMs;
}

/** A retry that does not count keeps its own position in the queue. */
function uncounted(waitMs: number): NextAttempt {
  return { waitMs, isInPause: false, isCounted: false, isInFront: false };
}

/** A refusal changed nothing, so any call is sent again, before those that wait. */
function afterRefusal(requestedMs: number | undefined, retries: number, policy: RetryPolicy): NextAttempt {
  const waitMs = requestedMs ?? shortestRefusalMs;
  // A wait of 0 is no pause, so the call backs off.
  if (policy.hasLimiter && waitMs > 0) return { waitMs, isInPause: true, isCounted: true, isInFront: true };
  const longestMs = Math.max(waitMs, backoffMs(retries, policy));
  return { waitMs: longestMs, isInPause: false, isCounted: true, isInFront: true };
}

/** Without an answer that says otherwise a write may have been applied: it is sent again if it may be executed twice. */
function afterFailure(error: AudienceError, retries: number, policy: RetryPolicy): NextAttempt | undefined {
  if (error instanceof ConnectionError) {
    const isSafe = error.outcome === "not-sent" || policy.isRepeatable;
    return isSafe && error.reason !== "tls" ? counted(backoffMs(retries, policy)) : undefined;
  }
  const isRetried = error instanceof ApiError && (error.status === 408 || error.status >= 500);
  if (!isRetried || !policy.isRepeatable || isWaitTooLong(error)) return undefined;
  return counted(Math.max(error.retryAfterMs ?? 0, backoffMs(retries, policy)));
}

function counted(waitMs: number): NextAttempt {
  return { waitMs, isInPause: false, isCounted: true, isInFront: false };
}

/** Half fixed, half random, so that calls that failed together are not retried together. */
function backoffMs(retries: number, { random }: RetryPolicy): number {
  return Math.min(firstBackoffMs * 2 ** retries, longestBackoffMs) * (0.5 + random() / 2);
}
