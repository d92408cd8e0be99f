import pRetry from "p-retry";
import {
  ApiError,
  AuthenticationError,
  isAudienceError,
  RateLimitError,
  RateLimitWaitError,
  type AudienceError,
} from "../errors.ts";
import type { PermitUse } from "../rate-limiter/sliding-window-log.ts";
import { undefinedOf } from "../values/predicates.ts";
import { sleep } from "./abort-signal.ts";
import { recordOutcome } from "./call-outcome.ts";
import type { ApiResponse, Call } from "./call.ts";
import { deadlineError } from "./cancellation.ts";
import { decodeResponse } from "./decode-response.ts";
import { exchange } from "./exchange.ts";
import { summary } from "./observer.ts";
import { getReady, pauseByHead, wasRefused, type AttemptStart, type Readiness } from "./permit.ts";
import { planRetry, type FailedEnd, type NextAttempt } from "./retry-plan.ts";
import { AttemptSpan } from "./tracing.ts";

/** What p-retry would read of `Object.prototype`: it waits here alone. */
const notInherited = undefinedOf("signal onFailedAttempt factor randomize maxRetryTime unref");

/** Makes the attempts of a call, the first included, until one gives a response or the plan gives up. */
export async function attempts(call: Call): Promise<ApiResponse> {
  // A row's write may have waited in the queue before, for a look: it goes before the looks of other rows.
  let start: AttemptStart = {
    isInFront: call.gate !== undefined && call.context.method !== "GET",
    key: undefined,
  };
  /** The key that a 401 refuses; undefined if its function was asked for another one before. */
  let usedKey: string | undefined;
  let mayRenewKey = true;
  let cause: AudienceError | undefined;
  let next: NextAttempt | undefined;
  return await pRetry(makeAttempt, {
    // One more than are made: with none left, p-retry would stop even if the next retry does not count.
    retries: call.options.maxRetries + 1,
    minTimeout: 0,
    maxTimeout: 0,
    ...notInherited,
    // Asked first, so the retry is planned here, and waits here: the service may name the wait, and hooks get it beforehand.
    async shouldConsumeRetry({ error, retriesConsumed }) {
      const end = await endOf(error, call, mayRenewKey ? usedKey : undefined);
      // A retry that gets no permit does not hide why it was needed.
      if (end.kind !== "no-permit") cause = end.error;
      else if (cause) end.error.cause = cause;
      next = planNext(call, end, retriesConsumed);
      if (!next) return true;
      const key = end.kind === "new-key" ? end.key : undefined;
      mayRenewKey &&= key === undefined;
      start = { isInFront: next.isInFront, key };
      if (next.waitMs > 0 && !next.isInPause) await sleep(next.waitMs, call.stop.signal);
      return next.isCounted;
    },
    shouldRetry: () => next !== undefined,
  });

  async function makeAttempt(): Promise<ApiResponse> {
    usedKey = undefined;
    const ready = await getReady(call, start);
    usedKey = ready.key;
    try {
      return await attempt(call, ready);
    } finally {
      ready.endTurn?.();
    }
  }
}

/** Sends the request and reads its response. The permit comes back with the head, or with the failure to get one. */
async function attempt(call: Call, { key, permit }: Readiness): Promise<ApiResponse> {
  const { client, context, settings } = call;
  const span = new AttemptSpan(context, settings.observer, settings.requestTracing);
  let use: PermitUse = "unsent";
  try {
    const received = await span.run(async () => {
      // In a hook or a subscriber.
      if (call.left) throw call.left;
      use = "lost";
      return await exchange(call, key, {
        onHead(head) {
          // Before the release: if the response begins a pause, no other call may acquire the permit.
          pauseByHead(call, head);
          permit.release("responded");
        },
        onLeave: (error) => span.end(undefined, error),
      });
    });
    const response = decodeResponse(received, call);
    call.isComplete = true;
    client.limiter.current?.succeeded();
    span.end(response.response.status);
    return response;
  } catch (error) {
    // Its outcome is known, before a hook ends the call.
    call.inFlight = undefined;
    const outcome = isAudienceError(error) ? error.outcome : "unknown";
    permit.release(outcome === "not-sent" ? "unsent" : use);
    // Without the option only a 429 is a refusal, and its head has told it.
    if (error instanceof RateLimitError && settings.isRateLimited) wasRefused(call, error.retryAfterMs);
    recordOutcome(context, outcome);
    span.end(summary(error).status, error);
    throw error;
  }
}

/** `usedKey`: the one that a 401 refuses, if the key function may be asked for another. */
async function endOf(error: unknown, call: Call, usedKey: string | undefined): Promise<FailedEnd> {
  if (error instanceof RateLimitWaitError) return { kind: "no-permit", error };
  if (error instanceof RateLimitError) return { kind: "refused", error };
  if (error instanceof AuthenticationError && usedKey !== undefined) {
    const { options, request, stop } = call;
    try {
      const key = await request.access.key.changed(usedKey, options.timeoutMs, stop.signal);
      if (key !== undefined) return { kind: "new-key", error, key };
    } catch (failure) {
      stop.signal.throwIfAborted();
      // The 401 stays the result, and says why it was given no other key.
      error.cause = failure;
    }
  }
  if (isAudienceError(error)) return { kind: "failed", error };
  // No end of an attempt, such as the error of a gate: it ends the call.
  throw error;
}

function planNext(call: Call, end: FailedEnd, retries: number): NextAttempt | undefined {
  const { client, context, gate, options, request, settings, stop } = call;
  const next = planRetry(end, retries, {
    maxRetries: options.maxRetries,
    isRepeatable: request.isRepeatable,
    hasLimiter: client.limiter.current !== undefined,
    isPatient: gate !== undefined,
    random: Math.random,
  });
  if (!next || stop.signal.aborted) return undefined;
  const { waitMs } = next;
  refuseIfTooLate(call, next, end.error);
  // A call that got no permit has made no attempt.
  const details = { attempt: Math.max(1, context.attempts), waitMs, error: summary(end.error) };
  const text = `is retried in ${Math.round(waitMs)} ms after ${end.error.name}`;
  settings.observer.report(context, details, text, { hook: "onRetry" });
  return next;
}

/** A failure that names the time of the retry is itself the error (D37). */
function refuseIfTooLate(call: Call, { waitMs }: NextAttempt, error: AudienceError): void {
  if (performance.now() + waitMs <= call.deadlineAt) return;
  const namesRetry =
    error.code === "rate_limit" || (error instanceof ApiError && error.retryAfterMs !== undefined);
  throw namesRetry ? error : deadlineError(call, error);
}
