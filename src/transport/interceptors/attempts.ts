import pRetry from "p-retry";
import { ApiError, type AudienceError } from "../../errors.ts";
import { sleep } from "../abort.ts";
import type { ApiResponse, Call, FailedEnd } from "../call.ts";
import { attempt, type AttemptStart } from "./attempt.ts";
import { deadlineError } from "./deadline.ts";
import { planRetry, type NextAttempt } from "./retry-plan.ts";

/** Carries the end of an attempt through p-retry, which takes only errors, and what follows it. */
class FailedAttempt extends Error {
  readonly end: FailedEnd;
  next: NextAttempt | undefined;

  constructor(end: FailedEnd) {
    super("the attempt failed");
    this.end = end;
  }
}

/** What a call has from the layers around its attempts. */
export interface AttemptsInput {
  /** The call's position in the queue of the rate limit, if it has waited for an earlier write. */
  readonly position: number | undefined;
  /** Called when the response has been decoded: an abort then comes too late. */
  readonly complete: () => void;
}

/** Makes the attempts of a call, the first included, until one gives a response or the plan gives up. */
export async function attempts(call: Call, { position, complete }: AttemptsInput): Promise<ApiResponse> {
  let start: AttemptStart = { position, isInFront: call.gate?.isInFront ?? false, mayRenewKey: true };
  /** Why the last retry was needed. */
  let cause: unknown;
  try {
    return await pRetry(makeAttempt, {
      // One more than are made: with none left, p-retry would stop even if the next retry does not count.
      retries: call.options.maxRetries + 1,
      minTimeout: 0,
      maxTimeout: 0,
      signal: call.abort.signal,
      // Asked before the others, so the retry is planned here.
      shouldConsumeRetry({ error, retriesConsumed }) {
        if (error instanceof FailedAttempt) error.next = planNext(error.end, retriesConsumed);
        return nextAfter(error)?.isCounted ?? true;
      },
      // Waits itself: the service may name the wait, and hooks get it beforehand.
      async onFailedAttempt({ error }) {
        const next = nextAfter(error);
        if (next && next.waitMs > 0 && !next.isInPause) await sleep(next.waitMs, call.stopWaiting.signal);
      },
      shouldRetry: ({ error }) => nextAfter(error) !== undefined,
    });
  } catch (error) {
    throw error instanceof FailedAttempt ? error.end.error : error;
  }

  async function makeAttempt(): Promise<ApiResponse> {
    const end = await attempt(call, start, complete);
    if (end.kind === "response") return end.response;
    throw new FailedAttempt(end);
  }

  function planNext(end: FailedEnd, retries: number): NextAttempt | undefined {
    // A retry that gets no permit does not hide why it was needed.
    if (end.kind !== "no-permit") cause = end.error;
    else if (cause !== undefined) end.error.cause = cause;
    const next = planRetry(end, retries, policyOf(call));
    if (!next) return undefined;
    if (call.stopWaiting.signal.aborted) return undefined;
    checkDeadline(call, next, end.error);
    const { observer } = call.settings;
    const { attempts: made, facts } = call.report;
    // A call that got no permit has made none.
    observer.retries(facts, Math.max(1, made), next.waitMs, end.error);
    const isNewKey = end.kind === "new-key";
    start = {
      position: undefined,
      isInFront: next.isInFront,
      key: isNewKey ? end.key : undefined,
      mayRenewKey: start.mayRenewKey && !isNewKey,
    };
    return next;
  }
}

function nextAfter(error: Error): NextAttempt | undefined {
  return error instanceof FailedAttempt ? error.next : undefined;
}

function policyOf({ client, gate, isRepeatable, options }: Call) {
  return {
    maxRetries: options.maxRetries,
    isRepeatable,
    hasLimiter: client.limiter !== undefined,
    isPatient: gate !== undefined,
    random: Math.random,
  };
}

/** A failure that names the time of the retry is itself the error (D37). */
function checkDeadline(call: Call, { waitMs }: NextAttempt, error: AudienceError): void {
  if (performance.now() + waitMs <= call.deadlineAt) return;
  const namesRetry =
    error.code === "rate_limit" || (error instanceof ApiError && error.retryAfterMs !== undefined);
  throw namesRetry ? error : deadlineError(call, error);
}
