import pRetry from "p-retry";
import {
  ApiError,
  AudienceError,
  AuthenticationError,
  ConnectionError,
  RateLimitError,
  RateLimitWaitError,
} from "../../errors.ts";
import { sleep } from "../abort.ts";
import type { Interceptor, RequestContext } from "../interceptor.ts";
import { deadlineError } from "./deadline.ts";

const firstBackoffMs = 500;
const longestBackoffMs = 30_000;
const shortestRefusalMs = 1_000;
/** The longest window of the service: no call waits longer for a retry. */
const longestRetryAfterMs = 3_600_000;

export const retry: Interceptor = (next) => async (context) => {
  const { abort, options, settings, stopWaiting } = context;
  let planned: ReturnType<typeof planRetry>;
  let failure: unknown;
  return await pRetry(() => next(context), {
    // One more than are made: with none left, p-retry would stop even if the next retry does not count.
    retries: options.maxRetries + 1,
    // `onFailedAttempt` waits itself: the service may name the wait, and hooks get it beforehand.
    minTimeout: 0,
    maxTimeout: 0,
    signal: abort.signal,
    async onFailedAttempt({ error, retriesConsumed }) {
      planned = undefined;
      // A retry that gets no permit does not hide why it was needed.
      if (!(error instanceof RateLimitWaitError)) failure = error;
      else if (failure) error.cause = failure;
      if (!(error instanceof AudienceError)) return;
      const plan = planRetry(error, context, retriesConsumed);
      if (!plan) return;
      if (stopWaiting.signal.aborted) return void (context.isCutOff = true);
      planned = plan;
      const { delayMs, isCounted } = planned;
      if (performance.now() + delayMs > context.deadlineAt) {
        // A failure that names the time of the retry is itself the error (D37).
        const namesRetry = error instanceof ApiError && error.retryAfterMs !== undefined;
        throw namesRetry || error instanceof RateLimitError ? error : deadlineError(context, error);
      }
      settings.observer.retries(context.facts, Math.max(1, context.attempts), delayMs, error);
      // A 429 pauses the limiter for all calls, and moves the refused call to the front of the queue.
      // A retry that does not count keeps its own position in the queue.
      context.isRequeued = error instanceof RateLimitError && isCounted;
      const isInPause = isCounted && isPause(error, context);
      if (delayMs > 0 && !isInPause) await sleep(delayMs, stopWaiting.signal);
    },
    shouldConsumeRetry: () => planned?.isCounted ?? true,
    shouldRetry: () => planned !== undefined,
  });
};

/** Whether the service asks for a longer wait than any call makes. */
export function isWaitTooLong(failure: { readonly retryAfterMs?: number }): boolean {
  return (failure.retryAfterMs ?? 0) > longestRetryAfterMs;
}

/** Undefined if the failure is final. */
function planRetry(failure: AudienceError, context: RequestContext, retries: number) {
  const { apiKey, isRepeatable, options } = context;
  if (failure instanceof AuthenticationError && apiKey.changed !== undefined)
    return { delayMs: 0, isCounted: false };
  if (isRefusedForRate(failure, context)) return { delayMs: rateRefusalDelayMs(failure), isCounted: false };
  if (retries >= options.maxRetries || !mayBeRetried(failure, isRepeatable)) return undefined;
  // Half fixed, half random, so that calls that failed together are not retried together.
  const backoffMs = Math.min(firstBackoffMs * 2 ** retries, longestBackoffMs) * (0.5 + Math.random() / 2);
  if (!(failure instanceof ApiError)) return { delayMs: backoffMs, isCounted: true };
  if (isWaitTooLong(failure)) return undefined;
  const isRefusal = failure instanceof RateLimitError;
  const requestedMs = failure.retryAfterMs ?? (isRefusal ? shortestRefusalMs : 0);
  const delayMs = isPause(failure, context) ? requestedMs : Math.max(requestedMs, backoffMs);
  return { delayMs, isCounted: true };
}

/** The limiter's pause already waits as long as the 429 asks. A wait of 0 is no pause, so the call backs off. */
function isPause(failure: AudienceError, { client }: RequestContext): boolean {
  return failure instanceof RateLimitError && failure.retryAfterMs !== 0 && client.limiter !== undefined;
}

function mayBeRetried(failure: AudienceError, isRepeatable: boolean): boolean {
  if (failure instanceof RateLimitError) return true;
  if (failure instanceof ConnectionError) {
    if (failure.reason === "tls") return false;
    return failure.outcome === "not-sent" || isRepeatable;
  }
  return failure instanceof ApiError && (failure.status === 408 || failure.status >= 500) && isRepeatable;
}

/**
 * A call with an extension is retried after every refusal by the rate limit, unless its options limit the wait, or the
 * service asks for more than an hour.
 */
function isRefusedForRate(failure: AudienceError, { options }: RequestContext): boolean {
  if (options.extension === undefined) return false;
  if (failure instanceof RateLimitError) return !isWaitTooLong(failure);
  return failure instanceof RateLimitWaitError && options.maxWaitMs === Infinity;
}

function rateRefusalDelayMs(failure: AudienceError): number {
  const requestedMs = failure instanceof RateLimitError ? (failure.retryAfterMs ?? 0) : 0;
  // A full queue may have room long before the expected wait ends.
  const expectedMs = failure instanceof RateLimitWaitError ? Math.min(failure.waitMs, longestBackoffMs) : 0;
  return Math.max(requestedMs, expectedMs, shortestRefusalMs);
}
