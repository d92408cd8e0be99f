import { isAudienceError, type Outcome } from "../../errors.ts";
import {
  recordOutcome,
  type ApiResponse,
  type CallContext,
  type Interceptor,
  type TransportSettings,
} from "../interceptor.ts";
import { summary, type EventDetails, type RequestEvent } from "../observer.ts";

/** The message of the tracing channel `audience-sdk:call` is completed at the end of the call. */
export async function observeCall(
  context: CallContext,
  { callTracing }: TransportSettings,
  call: () => Promise<ApiResponse>,
): Promise<ApiResponse> {
  if (!callTracing?.hasSubscribers) return await call();
  const message = { ...context.facts };
  const startedAt = performance.now();
  const end = (ending: { outcome: Outcome; error?: RequestEvent["error"] }) => {
    const { attempts, queuedMs } = context;
    callTracing.end(
      Object.assign(message, { attempts, queuedMs, durationMs: performance.now() - startedAt }, ending),
    );
  };
  try {
    const response = await callTracing.run(message, call);
    end({ outcome: context.facts.method === "GET" ? "not-applied" : "applied" });
    return response;
  } catch (error) {
    end({ outcome: context.outcome, error: summary(error) });
    throw error;
  }
}

/** Counts an attempt, and reports it to hooks, logger and the tracing channel `audience-sdk:request`. */
export const observeAttempt: Interceptor = (next) => async (context) => {
  const { facts } = context;
  const { observer, requestTracing } = context.settings;
  const { signal } = context.abort;
  const details: EventDetails = { attempt: ++context.attempts };
  const traced = requestTracing?.hasSubscribers
    ? { channel: requestTracing, message: { ...facts, ...details } }
    : undefined;
  const sentAt = performance.now();
  const end = (status: number | undefined, error?: unknown) => {
    // An aborted attempt has ended for its caller, though its request continues (D44).
    if (details.durationMs !== undefined) return;
    if (status !== undefined) details.status = status;
    details.durationMs = performance.now() - sentAt;
    if (error) details.error = summary(error);
    observer.attemptEnds(facts, details);
    if (traced) traced.channel.end(Object.assign(traced.message, details));
  };
  const onAbort = () => end(undefined, signal.reason);
  const attempt = async () => {
    // A hook or a subscriber may have aborted the call.
    signal.throwIfAborted();
    context.isInFlight = true;
    return await next(context);
  };
  signal.addEventListener("abort", onAbort);
  observer.attemptStarts(facts, details);
  try {
    const result = await (traced ? traced.channel.run(traced.message, attempt) : attempt());
    context.isDone = true;
    end(result.response.status);
    return result;
  } catch (error) {
    /* v8 ignore next -- @preserve anything else would be a defect of our own */
    recordOutcome(context, isAudienceError(error) ? error.outcome : "unknown");
    // Before the hooks, which may abort the call.
    context.isInFlight = false;
    end(summary(error).status, error);
    throw error;
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
};
