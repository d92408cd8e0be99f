import { isAudienceError, RateLimitError, RateLimitWaitError } from "../../errors.ts";
import type { Permit, RateLimiter } from "../../rate-limiter/rate-limiter.ts";
import { unlessLate } from "../abort.ts";
import type { Interceptor, RequestContext } from "../interceptor.ts";
import { refusalWaitMs, retryAfterMs } from "../rate-refusal.ts";

/** The attempt begins anew, with another permit: a pause has voided this one, or it came too late for what it was held for. */
const repeat = new Error("begin again");

/** Acquires a permit for each attempt, and releases it with the attempt's result. */
export const rateLimit: Interceptor = (next) => async (context) => {
  const { limiter } = context.client;
  if (!limiter) return await next(context);
  let repeats = 0;
  for (;;) {
    let permit = await acquire(limiter, context);
    const attemptsBefore = context.attempts;
    let wasSent = true;
    let headWaitMs = 0;
    context.onHead = ({ status, headers }) => {
      // Before the release: if the response begins a pause, no other call may acquire the permit.
      if (status === 429) {
        const waitMs = refusalWaitMs(headers);
        headWaitMs = waitMs ?? 0;
        limiter.refused(waitMs);
      } else if (status === 503 && !context.settings.isRateLimited) limiter.pause(retryAfterMs(headers) ?? 0);
      permit.release("responded");
    };
    context.holdPermit = async (work) => {
      const hasEnded = work.then(() => true);
      if (await unlessLate(hasEnded, longestHoldMs, () => false)) return;
      permit.release("unsent");
      await work;
      const askedAt = performance.now();
      // It has had a permit: it goes to the front of the queue.
      permit = await acquire(limiter, context, true);
      // After a long wait its key, and what the work has found, may be out of date. Not for ever: it may need permits itself.
      if (performance.now() - askedAt < longWaitMs || repeats === maxRepeats) return;
      repeats++;
      throw repeat;
    };
    try {
      const response = await next(context);
      limiter.succeeded();
      return response;
    } catch (error) {
      // Its body may say that it is a refusal, or name a longer wait than its headers.
      if (error instanceof RateLimitError) {
        const { status, retryAfterMs: waitMs = 0 } = error;
        if (status !== 429) limiter.refused(error.retryAfterMs);
        else if (waitMs > headWaitMs) limiter.refused(waitMs);
      }
      const didNotLeave = isAudienceError(error) && error.outcome === "not-sent";
      wasSent = context.attempts > attemptsBefore && !didNotLeave;
      if (error !== repeat) throw error;
      context.isRequeued = context.options.extension === undefined;
    } finally {
      // Only the first release counts: after the response head this one does nothing.
      permit.release(wasSent ? "lost" : "unsent");
    }
  }
};

/** Longer work would hold up calls that could be sent. */
const longestHoldMs = 250;
const longWaitMs = 2_000;
const maxRepeats = 3;

/**
 * The last check before the request is sent, without a wait in between. A call that was aborted as "not sent" must not be
 * sent, nor one during a pause that began while it waited for its key (D81).
 */
export const unlessPaused: Interceptor = (next) => async (context) => {
  context.abort.signal.throwIfAborted();
  if (context.client.limiter?.isPaused) throw repeat;
  return await next(context);
};

async function acquire(
  limiter: RateLimiter,
  context: RequestContext,
  isRequeued = context.isRequeued,
): Promise<Permit> {
  const { client, deadlineAt, options, settings, stopWaiting } = context;
  const { maxQueued, observer } = settings;
  const askedAt = performance.now();
  let endWait: (() => void) | undefined;
  try {
    return await limiter.acquire({
      priority: options.priority,
      client,
      signal: stopWaiting.signal,
      isRequeued,
      place: context.place,
      observer,
      onWait: (waitMs) => void (endWait = observer.waits(context.facts, context.attempts + 1, waitMs)),
      maxWaitMs: options.maxWaitMs,
      // After the deadline, even before its late timer, there is no time to wait.
      deadlineInMs: Math.max(0, deadlineAt - askedAt),
      maxQueued,
    });
  } catch (error) {
    throw asOwnError(error);
  } finally {
    endWait?.();
    // A retry is a new call to the queue.
    context.place = undefined;
    context.queuedMs += performance.now() - askedAt;
  }
}

/** The limiter may belong to another copy of the package: its errors become instances of this copy's class. */
function asOwnError(error: unknown): unknown {
  if (!isAudienceError(error) || error.code !== "rate_limit_wait") return error;
  return error instanceof RateLimitWaitError ? error : new RateLimitWaitError(error);
}
