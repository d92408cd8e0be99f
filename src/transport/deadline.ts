import { AbortError, ClientClosedError, TimeoutError, type AudienceError } from "../errors.ts";
import { startTimer } from "../timer.ts";
import { onAbort, untilAborted } from "./abort.ts";
import type { ApiResponse, Call } from "./call.ts";

/**
 * Ends a call for its caller. What becomes of a request in flight:
 *
 * - the caller's signal, and `deadlineMs`: the call ends at once, and its request continues unseen for two seconds (D44);
 * - `close()`, and the stop of a run of bulk: the call stops waiting, and its request continues to its end;
 * - `timeoutMs`, in `send.ts`: it cuts the request, and ends the attempt alone.
 */
export async function withDeadline(call: Call, send: () => Promise<ApiResponse>): Promise<ApiResponse> {
  const { abort, client, gate, options, stopWaiting } = call;
  const { deadlineMs, signal } = options;
  if (client.closing.signal.aborted) throw new ClientClosedError();
  if (signal?.aborted) throw abortError(signal, call);
  const end = (errorOf: () => AudienceError) => {
    if (call.isComplete) return;
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
  const response = send();
  try {
    return await untilAborted(response, abort.signal);
  } finally {
    if (abort.signal.aborted) client.leaveInBackground(response);
    cancelTimer();
    for (const remove of removeListeners) remove?.();
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
