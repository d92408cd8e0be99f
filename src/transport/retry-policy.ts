import {
  ApiError,
  ConnectionError,
  RateLimitError,
  RateLimitWaitError,
  type AudienceError,
} from "../errors.ts";

const firstBackoffMs = 500;
const longestBackoffMs = 30_000;
const shortestRefusalMs = 1_000;
/** The longest window of the service: a wait beyond it is not one to be sat out by a call. */
const longestRetryAfterMs = 3_600_000;

export interface RetryQuestion {
  readonly failure: AudienceError;
  /** Whether the call leaves the service in the same state when it is carried out twice. */
  readonly isRepeatable: boolean;
  /** Whether a limiter sits out the wait that a 429 asks for. */
  readonly isPaced: boolean;
  /** Retries made so far. */
  readonly retries: number;
  /** From 0 to 1, drawn for this retry. */
  readonly random: number;
}

/** How long to wait before the next attempt, in milliseconds; undefined if the failure is final. */
export function retryDelayMs({
  failure,
  isRepeatable,
  isPaced,
  retries,
  random,
}: RetryQuestion): number | undefined {
  if (!mayBeRetried(failure, isRepeatable)) return undefined;
  // Half of it fixed, half of it by chance, so that callers who failed together do not return together.
  const backoffMs = Math.min(firstBackoffMs * 2 ** retries, longestBackoffMs) * (0.5 + random / 2);
  if (!(failure instanceof ApiError)) return backoffMs;
  if (asksForTooLong(failure)) return undefined;
  const askedMs = failure.retryAfterMs ?? (failure instanceof RateLimitError ? shortestRefusalMs : 0);
  return failure instanceof RateLimitError && isPaced ? askedMs : Math.max(askedMs, backoffMs);
}

/** Whether the service asks for a wait that no call sits out. */
export function asksForTooLong(failure: { readonly retryAfterMs?: number }): boolean {
  return (failure.retryAfterMs ?? 0) > longestRetryAfterMs;
}

/** How long a row of a bulk run stays away that the rate limit turned away: as long as the service asks. */
export function turnedAwayDelayMs(failure: AudienceError): number {
  const askedMs = failure instanceof RateLimitError ? (failure.retryAfterMs ?? 0) : 0;
  // A full queue may have room long before the wait that its error expects is over.
  const expectedMs = failure instanceof RateLimitWaitError ? Math.min(failure.waitMs, longestBackoffMs) : 0;
  return Math.max(askedMs, expectedMs, shortestRefusalMs);
}

function mayBeRetried(failure: AudienceError, isRepeatable: boolean): boolean {
  if (failure instanceof RateLimitError) return true;
  if (failure instanceof ConnectionError) {
    if (failure.reason === "tls") return false;
    return failure.outcome === "not-sent" || isRepeatable;
  }
  return failure instanceof ApiError && (failure.status === 408 || failure.status >= 500) && isRepeatable;
}
