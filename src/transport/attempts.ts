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
import { sleep } from "./abort.ts";
import { changedKey } from "./api-key.ts";
import type { ApiResponse, AttemptEnd, Call, FailedEnd, SentRequest } from "./call.ts";
import { deadlineError } from "./deadline.ts";
import { observeAttempt } from "./observe.ts";
import { getReady, pauseByHead, wasRefused, type AttemptStart, type Readiness } from "./permit.ts";
import { readResponse } from "./read-response.ts";
import { planRetry, type NextAttempt } from "./retry-plan.ts";
import { Exchange } from "./send.ts";

/** Makes the attempts of a call, the first included, until one gives a response or the plan gives up. */
export async function attempts(call: Call): Promise<ApiResponse> {
  // A row's write may have waited in the queue before, for a look: it goes before the looks of other rows.
  const isInFront = call.gate !== undefined && call.request.method !== "GET";
  let start: AttemptStart = { isInFront, mayRenewKey: true };
  let end: FailedEnd | undefined;
  let next: NextAttempt | undefined;
  return await pRetry(makeAttempt, {
    // One more than are made: with none left, p-retry would stop even if the next retry does not count.
    retries: call.options.maxRetries + 1,
    minTimeout: 0,
    maxTimeout: 0,
    signal: call.abort.signal,
    // Asked first, so the retry is planned here, and waits here: the service may name the wait, and hooks get it beforehand.
    async shouldConsumeRetry({ error, retriesConsumed }) {
      // An error that is no end of an attempt ends the call.
      next = end?.error === error ? planNext(call, end, retriesConsumed) : undefined;
      if (!next) return true;
      const key = end?.kind === "new-key" ? end.key : undefined;
      start = { isInFront: next.isInFront, key, mayRenewKey: start.mayRenewKey && key === undefined };
      if (next.waitMs > 0 && !next.isInPause) await sleep(next.waitMs, call.stopWaiting.signal);
      return next.isCounted;
    },
    shouldRetry: () => next !== undefined,
  });

  async function makeAttempt(): Promise<ApiResponse> {
    // A retry that gets no permit does not hide why it was needed.
    const cause = end?.kind === "no-permit" ? end.error.cause : end?.error;
    const made = await attempt(call, start);
    end = made.kind === "response" ? undefined : made;
    if (made.kind === "response") return made.response;
    if (made.kind === "no-permit" && cause !== undefined) made.error.cause = cause;
    throw made.error;
  }
}

/** A permit and a key, a request, its response. Rejects with what is no end of an attempt, such as an error of its gate. */
async function attempt(call: Call, start: AttemptStart): Promise<AttemptEnd> {
  let key: string | undefined;
  try {
    const ready = await getReady(call, start);
    key = ready.key;
    return { kind: "response", response: await observeAttempt(call, () => exchange(call, ready)) };
  } catch (error) {
    return await endOf(error, call, start.mayRenewKey ? key : undefined);
  }
}

/** Sends the request and reads its response. The permit comes back with the head, or with the failure to get one. */
async function exchange(call: Call, { key, permit }: Readiness): Promise<ApiResponse> {
  let use: PermitUse = "unsent";
  let sent: SentRequest;
  let pausedMs: number;
  try {
    // A hook or a subscriber may have aborted the call.
    call.abort.signal.throwIfAborted();
    use = "lost";
    sent = await new Exchange(call).send(key);
    // Before the release: if the response begins a pause, no other call may acquire the permit.
    pausedMs = pauseByHead(call, sent.head);
    use = "responded";
  } catch (error) {
    if (isAudienceError(error) && error.outcome === "not-sent") use = "unsent";
    throw error;
  } finally {
    permit.release(use);
  }
  try {
    const response = readResponse(await sent.read(), call);
    call.isComplete = true;
    call.client.limiter?.succeeded();
    return response;
  } catch (error) {
    // Its body may say that it is a refusal, or name a longer wait than its headers.
    if (error instanceof RateLimitError && (error.status !== 429 || (error.retryAfterMs ?? 0) > pausedMs))
      wasRefused(call, error.retryAfterMs);
    throw error;
  }
}

/** `usedKey`: the one that a 401 refuses, if the key function may be asked for another. */
async function endOf(error: unknown, call: Call, usedKey: string | undefined): Promise<FailedEnd> {
  if (error instanceof RateLimitWaitError) return { kind: "no-permit", error };
  if (error instanceof RateLimitError) return { kind: "refused", error };
  if (error instanceof AuthenticationError && usedKey !== undefined) {
    const key = await changedKey(call, usedKey);
    if (key !== undefined) return { kind: "new-key", error, key };
  }
  if (isAudienceError(error)) return { kind: "failed", error };
  throw error;
}

/** What follows an attempt that failed; undefined: its error is that of the call. */
function planNext(call: Call, end: FailedEnd, retries: number): NextAttempt | undefined {
  const { client, gate, isRepeatable, options, report, settings, stopWaiting } = call;
  const next = planRetry(end, retries, {
    maxRetries: options.maxRetries,
    isRepeatable,
    hasLimiter: client.limiter !== undefined,
    isPatient: gate !== undefined,
    random: Math.random,
  });
  if (!next || stopWaiting.signal.aborted) return undefined;
  refuseIfTooLate(call, next, end.error);
  // A call that got no permit has made no attempt.
  settings.observer.retries(report.facts, Math.max(1, report.attempts), next.waitMs, end.error);
  return next;
}

/** A failure that names the time of the retry is itself the error (D37). */
function refuseIfTooLate(call: Call, { waitMs }: NextAttempt, error: AudienceError): void {
  if (performance.now() + waitMs <= call.deadlineAt) return;
  const namesRetry =
    error.code === "rate_limit" || (error instanceof ApiError && error.retryAfterMs !== undefined);
  throw namesRetry ? error : deadlineError(call, error);
}
