import { isAudienceError, type Outcome } from "../errors.ts";
import {
  recordOutcome,
  type ApiResponse,
  type Call,
  type CallReport,
  type TransportSettings,
} from "./call.ts";
import { summary, type EventDetails, type RequestEvent } from "./observer.ts";
import type { Tracing } from "./tracing.ts";

/** Reports a call to the tracing channel `audience-sdk:call`. Without a subscriber it throws what the call throws at once. */
export function observeCall(
  report: CallReport,
  { callTracing }: TransportSettings,
  call: () => Promise<ApiResponse>,
): Promise<ApiResponse> {
  return callTracing?.hasSubscribers ? traceCall(report, callTracing, async () => await call()) : call();
}

/** The message is completed at the end of the call. */
async function traceCall(
  report: CallReport,
  tracing: Tracing,
  call: () => Promise<ApiResponse>,
): Promise<ApiResponse> {
  const message = { ...report.facts };
  const startedAt = performance.now();
  const end = (ending: { outcome: Outcome; error?: RequestEvent["error"] }) => {
    const { attempts, queuedMs } = report;
    tracing.end(
      Object.assign(message, { attempts, queuedMs, durationMs: performance.now() - startedAt }, ending),
    );
  };
  try {
    const response = await tracing.run(message, call);
    end({ outcome: report.facts.method === "GET" ? "not-applied" : "applied" });
    return response;
  } catch (error) {
    end({ outcome: report.outcome, error: summary(error) });
    throw error;
  }
}

/** Counts an attempt, and reports it to hooks, logger and the tracing channel `audience-sdk:request`. */
export async function observeAttempt(call: Call, exchange: () => Promise<ApiResponse>): Promise<ApiResponse> {
  const { report, settings } = call;
  const { facts } = report;
  const { observer, requestTracing } = settings;
  const { signal } = call.abort;
  const details: EventDetails = { attempt: ++report.attempts };
  const traced = requestTracing?.hasSubscribers
    ? { channel: requestTracing, message: { ...facts, ...details } }
    : undefined;
  const sentAt = performance.now();
  /** The request was sent, and its response has not been read to the end. */
  let isInFlight = false;
  const end = (status: number | undefined, error?: unknown) => {
    // An aborted attempt has ended for its caller, though its request continues (D44).
    if (details.durationMs !== undefined) return;
    if (status !== undefined) details.status = status;
    details.durationMs = performance.now() - sentAt;
    if (error) details.error = summary(error);
    observer.attemptEnds(facts, details);
    if (traced) traced.channel.end(Object.assign(traced.message, details));
  };
  const onAbort = () => {
    if (isInFlight) recordOutcome(report, "unknown");
    end(undefined, signal.reason);
  };
  const send = async () => {
    isInFlight = true;
    return await exchange();
  };
  signal.addEventListener("abort", onAbort);
  observer.attemptStarts(facts, details);
  try {
    const result = await (traced ? traced.channel.run(traced.message, send) : send());
    end(result.response.status);
    return result;
  } catch (error) {
    /* v8 ignore next -- @preserve anything else would be a defect of our own */
    recordOutcome(report, isAudienceError(error) ? error.outcome : "unknown");
    // Before the hooks, which may abort the call.
    isInFlight = false;
    end(summary(error).status, error);
    throw error;
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
