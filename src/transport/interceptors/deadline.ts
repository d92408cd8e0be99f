import { AbortError, ClientClosedError, TimeoutError, type AudienceError } from "../../errors.ts";
import { startTimer } from "../../timer.ts";
import { onAbort, untilAborted } from "../abort.ts";
import type { ApiResponse, Call } from "../call.ts";

/**
 * Ends a call at the caller's signal and at `deadlineMs`: at once, though its request may continue in the background.
 * `send` says when the call is complete: then an abort comes too late.
 */
export async function withDeadline(
  call: Call,
  send: (complete: () => void) => Promise<ApiResponse>,
): Promise<ApiResponse> {
  const { abort, client, gate, options, stopWaiting } = call;
  const { deadlineMs, signal } = options;
  if (client.closing.signal.aborted) throw new ClientClosedError();
  if (signal?.aborted) throw abortError(signal, call);
  let isComplete = false;
  const end = (errorOf: () => AudienceError) => {
    if (isComplete) return;
    const error = errorOf();
    abort.abort(error);
    stopWaiting.abort(error);
  };
  const stop = gate?.stop;
  const removeListeners = [
    signal && onAbort(signal, () => end(() => abortError(signal, call))),
    stop && onAbort(stop, () => stopWaiting.abort(abortError(stop, call))),
  ];
  const cancelTimer = startTimer(() => end(() => deadlineError(call)), deadlineMs);
  const response = send(() => (isComplete = true));
  try {
    return await untilAborted(response, abort.signal);
  } finally {
    if (abort.signal.aborted) client.leaveInBackground(response);
    cancelTimer();
    for (const each of removeListeners) if (each) each();
  }
}

/** `failure`: the error whose retry would begin after the deadline. */
export function deadlineError(
  { options: { deadlineMs }, report: { outcome } }: Call,
  failure?: AudienceError,
): TimeoutError {
  const message = failure
    ? `The call's next attempt would begin after its deadline of ${deadlineMs} ms.`
    : `The call did not end within its deadline of ${deadlineMs} ms.`;
  return new TimeoutError({ message, outcome, timeoutMs: deadlineMs, cause: failure });
}

function abortError(signal: AbortSignal, { report: { outcome } }: Call): AbortError {
  return new AbortError({ outcome, cause: signal.reason });
}
