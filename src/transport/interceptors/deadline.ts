import { AbortError, ClientClosedError, TimeoutError, type AudienceError } from "../../errors.ts";
import { onAbort, startTimer, untilAborted } from "../abort.ts";
import { recordOutcome, type Interceptor, type RequestContext } from "../interceptor.ts";

/** Ends a call at the caller's signal and at `deadlineMs`: at once, though its request may continue in the background. */
export const deadline: Interceptor = (next) => async (context) => {
  const { abort, client, options, stopWaiting } = context;
  const { deadlineMs, signal, extension } = options;
  if (client.closing.signal.aborted) throw new ClientClosedError();
  if (signal?.aborted) throw abortError(signal, context);
  const end = (errorOf: () => AudienceError) => {
    if (context.isDone) return;
    if (context.isInFlight) recordOutcome(context, "unknown");
    const error = errorOf();
    abort.abort(error);
    stopWaiting.abort(error);
  };
  const stop = extension?.stop;
  const removeListeners = [
    // The extension's signal is already its `stop`.
    signal && signal !== stop && onAbort(signal, () => end(() => abortError(signal, context))),
    stop && onAbort(stop, () => stopWaiting.abort(abortError(stop, context))),
  ];
  const timer = startTimer(() => end(() => deadlineError(context)), deadlineMs);
  const exchange = next(context);
  try {
    return await untilAborted(exchange, abort.signal);
  } finally {
    if (abort.signal.aborted) client.leaveInBackground(exchange);
    clearTimeout(timer);
    for (const each of removeListeners) if (each) each();
  }
};

/** `failure`: the error whose retry would begin after the deadline. */
export function deadlineError(
  { options: { deadlineMs }, outcome }: RequestContext,
  failure?: AudienceError,
): TimeoutError {
  const message = failure
    ? `The call's next attempt would begin after its deadline of ${deadlineMs} ms.`
    : `The call did not end within its deadline of ${deadlineMs} ms.`;
  return new TimeoutError({ message, outcome, timeoutMs: deadlineMs, cause: failure });
}

function abortError(signal: AbortSignal, { outcome }: RequestContext): AbortError {
  return new AbortError({ outcome, cause: signal.reason });
}
