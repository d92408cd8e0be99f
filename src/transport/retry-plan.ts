import {
  ApiError,
  ConnectionError,
  RateLimitError,
  RateLimitWaitError,
  type AudienceError,
} from "../errors.ts";
import { longestWindowMs } from "../limits.ts";

const firstBackoffMs = 500;
const longestBackoffMs = 30_000;
const shortestRefusalMs = 1_000;

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

/** The attempt with another key, after a 401. */
export const withNewKey = retryIn(0, false);

/** Plans the attempt that follows a failed one after so many retries; undefined: no retry. */
export function planRetry(
  error: AudienceError,
  retries: number,
  policy: RetryPolicy,
): NextAttempt | undefined {
  const { isPatient, maxRetries } = policy;
  if (error instanceof RateLimitWaitError) {
    // A full queue may have room long before the expected wait ends.
    const waitMs = Math.max(Math.min(error.waitMs, longestBackoffMs), shortestRefusalMs);
    return isPatient ? retryIn(waitMs, false) : undefined;
  }
  if (error instanceof ApiError && isWaitTooLong(error)) return undefined;
  const isRefusal = error instanceof RateLimitError;
  if (isRefusal && isPatient) return retryIn(Math.max(error.retryAfterMs ?? 0, shortestRefusalMs), false);
  if (retries >= maxRetries) return undefined;
  return isRefusal ? afterRefusal(error.retryAfterMs, retries, policy) : afterFailure(error, retries, policy);
}

/** Whether the service asks for a longer wait than any call makes. */
export function isWaitTooLong(failure: { readonly retryAfterMs?: number }): boolean {
  return (failure.retryAfterMs ?? 0) > longestWindowMs;
}

/** A retry that joins the queue at its end. */
function retryIn(waitMs: number, isCounted: boolean): NextAttempt {
  return { waitMs, isInPause: false, isCounted, isInFront: false };
}

/** A refusal changed nothing, so any call is sent again, before those that wait. */
function afterRefusal(requestedMs: number | undefined, retries: number, policy: RetryPolicy): NextAttempt {
  const namedMs = requestedMs ?? shortestRefusalMs;
  // A wait of 0 is no pause, so the call backs off.
  const isInPause = policy.hasLimiter && namedMs > 0;
  const waitMs = isInPause ? namedMs : Math.max(namedMs, backoffMs(retries, policy));
  return { waitMs, isInPause, isCounted: true, isInFront: true };
}

/** Without an answer that says otherwise a write may have been applied: it is sent again if it may be executed twice. */
function afterFailure(error: AudienceError, retries: number, policy: RetryPolicy): NextAttempt | undefined {
  if (error instanceof ConnectionError) {
    const isSafe = error.outcome === "not-sent" || policy.isRepeatable;
    return isSafe && error.reason !== "tls" ? retryIn(backoffMs(retries, policy), true) : undefined;
  }
  const isRetried = error instanceof ApiError && (error.status === 408 || error.status >= 500);
  if (!isRetried || !policy.isRepeatable) return undefined;
  return retryIn(Math.max(error.retryAfterMs ?? 0, backoffMs(retries, policy)), true);
}

/** Half fixed, half random, so that calls that failed together are not retried together. */
function backoffMs(retries: number, { random }: RetryPolicy): number {
  return Math.min(firstBackoffMs * 2 ** retries, longestBackoffMs) * (0.5 + random() / 2);
}
