import pRetry from "p-retry";
import {
  ApiError,
  AuthenticationError,
  isAudienceError,
  RateLimitError,
  RateLimitWaitError,
  type AudienceError,
} from "../errors.ts";
import type { Permit } from "../rate-limiter/fair-queue.ts";
import type { PermitUse } from "../rate-limiter/sliding-window-log.ts";
import { undefinedOf } from "../values/predicates.ts";
import { onAbort, sleep } from "./abort-signal.ts";
import { recordOutcome } from "./call-outcome.ts";
import type { ApiResponse, Call } from "./call.ts";
import { deadlineError } from "./cancellation.ts";
import { decodeResponse } from "./decode-response.ts";
import { exchange } from "./exchange.ts";
import { errorSummary } from "./observer.ts";
import { pauseByHead, wasRefused, whenReady } from "./permit.ts";
import { planRetry, withNewKey, type NextAttempt } from "./retry-plan.ts";
import { AttemptSpan } from "./tracing.ts";

/** What p-retry would read of `Object.prototype`: it waits here alone. */
const notInheritedByPRetry = undefinedOf("signal onFailedAttempt factor randomize maxRetryTime unref");

/** Makes the attempts of a call, the first included, until one gives a response or the plan gives up. */
export function attempts(call: Call): Promise<ApiResponse> {
  // A row's write may have waited in the queue before, for a look: it goes before the looks of other rows.
  let isInFront = call.gate !== undefined && call.context.method !== "GET";
  let newKey: string | undefined;
  /** The key that a 401 refuses; undefined if its function was asked for another one before. */
  let usedKey: string | undefined;
  let mayRenewKey = true;
  let lastFailure: AudienceError | undefined;
  let next: NextAttempt | undefined;
  return pRetry(makeAttempt, {
    // One more than are made: with none left, p-retry would stop even if the next retry does not count.
    retries: call.options.maxRetries + 1,
    minTimeout: 0,
    maxTimeout: 0,
    ...notInheritedByPRetry,
    // p-retry asks this first, so the retry is planned and waits here: the service may name the wait, and hooks get it.
    async shouldConsumeRetry({ error, retriesConsumed }) {
      // No failure of an attempt, such as the error of a gate: it ends the call.
      if (!isAudienceError(error)) throw error;
      // A retry that gets no permit does not hide why it was needed.
      if (!(error instanceof RateLimitWaitError)) lastFailure = error;
      else if (lastFailure) error.cause = lastFailure;
      newKey = mayRenewKey ? await renewedKey(error, call, usedKey) : undefined;
      mayRenewKey &&= newKey === undefined;
      next = planNext(call, error, retriesConsumed, newKey);
      if (!next) return true;
      isInFront = next.isInFront;
      if (next.waitMs > 0 && !next.isInPause) await sleep(next.waitMs, call.stop.signal);
      return next.isCounted;
    },
    shouldRetry: () => next !== undefined,
  });

  function makeAttempt(): Promise<ApiResponse> {
    usedKey = undefined;
    return whenReady(call, isInFront, newKey, (permit, key) => {
      usedKey = key;
      return attempt(call, permit, key);
    });
  }
}

/** Sends the request and reads its response. The permit comes back with the head, or with the failure to get one. */
async function attempt(call: Call, permit: Permit, key: string): Promise<ApiResponse> {
  const { client, context, settings } = call;
  const { signal: left } = call.left;
  const attemptSpan = new AttemptSpan(context, settings.observer, settings.requestTracing());
  let permitUse: PermitUse = "unsent";
  let removeListener: (() => void) | undefined;
  try {
    const received = await attemptSpan.run(async () => {
      // The caller may have left in a hook, or in a subscriber of the attempt.
      left.throwIfAborted();
      removeListener = onAbort(left, () => attemptSpan.end(undefined, left.reason));
      permitUse = "lost";
      return await exchange(call, key, (head) => {
        // Before the release: if the response begins a pause, no other call may acquire the permit.
        pauseByHead(call, head);
        permit.release("responded");
      });
    });
    const response = decodeResponse(received, call);
    call.isComplete = true;
    client.limiter.current?.succeeded();
    attemptSpan.end(response.response.status);
    return response;
  } catch (error) {
    // The outcome of the attempt is known, before a hook ends the call.
    call.inFlight = undefined;
    const outcome = isAudienceError(error) ? error.outcome : "unknown";
    permit.release(outcome === "not-sent" ? "unsent" : permitUse);
    // Without `isRateLimited` only a 429 is a refusal, and its head has begun the pause.
    if (error instanceof RateLimitError && settings.isRateLimited) wasRefused(call, error.retryAfterMs);
    recordOutcome(context, outcome);
    attemptSpan.end(errorSummary(error).status, error);
    throw error;
  } finally {
    removeListener?.();
  }
}

/** After a 401 of `usedKey`: the key, if its function gives another one now. */
async function renewedKey(
  error: AudienceError,
  { options, request, stop: { signal } }: Call,
  usedKey: string | undefined,
): Promise<string | undefined> {
  if (!(error instanceof AuthenticationError) || usedKey === undefined || signal.aborted) return undefined;
  try {
    const key = await request.access.key.request(options.timeoutMs, signal);
    return key === usedKey ? undefined : key;
  } catch (keyFailure) {
    signal.throwIfAborted();
    // The 401 stays the result, and says why it was given no other key.
    error.cause = keyFailure;
    return undefined;
  }
}

function planNext(
  call: Call,
  failure: AudienceError,
  retries: number,
  newKey: string | undefined,
): NextAttempt | undefined {
  const { client, context, gate, options, request, settings, stop } = call;
  const policy = {
    maxRetries: options.maxRetries,
    isRepeatable: request.isRepeatable,
    hasLimiter: client.limiter.current !== undefined,
    isPatient: gate !== undefined,
    random: Math.random,
  };
  const next = newKey === undefined ? planRetry(failure, retries, policy) : withNewKey;
  if (!next || stop.signal.aborted) return undefined;
  const { waitMs } = next;
  // A failure that names the time of the retry is itself the error (D37).
  const namesRetry = failure instanceof ApiError && failure.retryAfterMs !== undefined;
  if (performance.now() + waitMs > call.deadlineAt) throw namesRetry ? failure : deadlineError(call, failure);
  // A call that got no permit has made no attempt.
  const details = { attempt: Math.max(1, context.attempts), waitMs, error: errorSummary(failure) };
  const text = `is retried in ${Math.round(waitMs)} ms after ${failure.name}`;
  settings.observer.report(context, details, text, { hook: "onRetry" });
  return next;
}
