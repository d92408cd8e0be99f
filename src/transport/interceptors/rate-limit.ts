import { ConnectionError, isAudienceError, RateLimitWaitError } from "../../errors.ts";
import type { Permit, RateLimiter } from "../../rate-limiter/rate-limiter.ts";
import type { Interceptor, RequestContext } from "../interceptor.ts";
import { retryAfterMs } from "../response.ts";

/** Thrown by `unlessPaused`: the permit is from before a pause, and void in it. */
const pausedError = new Error("held back by a pause");

/** Gives each attempt a permit of the rate limit, and tells the limiter what became of it. */
export const rateLimit: Interceptor = (next) => async (context) => {
  const { limiter } = context.client;
  if (!limiter) return await next(context);
  for (;;) {
    const permit = await acquire(limiter, context);
    const attemptsBefore = context.attempts;
    let wasSent = true;
    context.onHead = ({ status, headers }) => {
      // Before the permit comes back: nobody takes it where the response begins a pause.
      if (status === 429) limiter.refused(retryAfterMs(headers));
      else limiter.succeeded();
      permit.release("responded");
    };
    try {
      return await next(context);
    } catch (error) {
      const didNotLeave = error instanceof ConnectionError && error.outcome === "not-sent";
      wasSent = context.attempts > attemptsBefore && !didNotLeave;
      if (error !== pausedError) throw error;
      context.isRequeued = context.options.extension === undefined;
    } finally {
      // Only the first release counts: after the response's head this one does nothing.
      permit.release(wasSent ? "lost" : "unsent");
    }
  }
};

/**
 * The last look before the request leaves: between it and the sending nothing may wait. An aborted call that says "not
 * sent" must not be sent, nor may one in a pause that came while it waited for its key (D81).
 */
export const unlessPaused: Interceptor = (next) => async (context) => {
  context.abort.signal.throwIfAborted();
  if (context.client.limiter?.isPaused) throw pausedError;
  return await next(context);
};

async function acquire(limiter: RateLimiter, context: RequestContext): Promise<Permit> {
  const { client, deadlineAt, isRequeued, options, settings, stopWaiting } = context;
  const { maxQueued, now, observer } = settings;
  const askedAt = now();
  // A deadline that has passed, and whose timer is only late, leaves no time to wait.
  const maxWaitMs = Math.max(0, Math.min(options.maxWaitMs ?? Infinity, deadlineAt - askedAt));
  let endWait: (() => void) | undefined;
  try {
    return await limiter.acquire({
      priority: options.priority,
      client,
      signal: stopWaiting.signal,
      isRequeued,
      observer,
      onWait: (waitMs) => void (endWait = observer.waits(context, context.attempts + 1, waitMs)),
      // Where the call says nothing, the limiter's own bound holds.
      maxWaitMs: maxWaitMs < Infinity ? maxWaitMs : options.maxWaitMs,
      maxQueued,
    });
  } catch (error) {
    throw asOwnError(error);
  } finally {
    endWait?.();
    context.queuedMs += now() - askedAt;
  }
}

/** The one limiter of a process may be of another copy of the package: its errors are made instances of this one's. */
function asOwnError(error: unknown): unknown {
  if (!isAudienceError(error) || error.code !== "rate_limit_wait") return error;
  return error instanceof RateLimitWaitError ? error : new RateLimitWaitError(error);
}
