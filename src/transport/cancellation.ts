import { AbortError, ClientClosedError, TimeoutError, type AudienceError } from "../errors.ts";
import { permitError } from "../rate-limiter/forecast.ts";
import { startTimer } from "../timer.ts";
import { onAbort, untilAborted } from "./abort-signal.ts";
import { recordOutcome } from "./call-outcome.ts";
import type { Call, Send } from "./call.ts";

/**
 * Ends a call early. If its caller leaves, by its signal or `deadlineMs`, its request in flight continues unseen for two
 * seconds (D44); if `close()` or the stop of a run of bulk ends its waiting, to its end.
 */
export function cancellable(send: Send): Send {
  return async (call) => {
    const { client, gate, left, options, stop } = call;
    const { deadlineMs, signal } = options;
    if (client.closing.signal.aborted) throw new ClientClosedError();
    if (signal?.aborted) throw abortError(signal, call);
    if (!gate) refuseLongWait(call);
    if (!signal && !gate && deadlineMs === Infinity) return await send(call);
    // Its logger may abort the signal at once.
    const response = send(call);
    const cancel = (errorOf: () => AudienceError) => {
      if (call.isComplete || left.signal.aborted) return;
      if (call.inFlight) recordOutcome(call.context, call.inFlight);
      leave(call, errorOf());
      client.leaveInBackground(response);
    };
    const removeListeners = [
      signal && onAbort(signal, () => cancel(() => abortError(signal, call))),
      gate && onAbort(gate.stop, () => stop.abort(abortError(gate.stop, call))),
    ];
    const cancelDeadline = startTimer(() => cancel(() => deadlineError(call)), deadlineMs);
    try {
      return await untilAborted(response, left.signal);
    } finally {
      cancelDeadline();
      for (const remove of removeListeners) remove?.();
    }
  };
}

/** The caller of a call leaves: it stops waiting, and its request in flight continues unseen. */
export function leave({ left, stop }: Call, error: AudienceError): void {
  stop.abort(error);
  left.abort(error);
}

/** Refuses a call that may not wait long enough for a permit, before anything is made for its wait. */
function refuseLongWait({ client, options, request }: Call): void {
  const { deadlineMs: deadlineInMs, maxWaitMs, priority } = options;
  const refusal = client.limiter.current?.dispatcher.longWait({ client, priority, maxWaitMs, deadlineInMs });
  // When the earlier write to its contact has ended, there may be a permit.
  if (refusal && !client.turns.before(request.contacts)) throw permitError(refusal);
}

/** The error of a call that passes its deadline. `failure`: the error whose retry would begin after the deadline. */
export function deadlineError(
  { options: { deadlineMs }, context: { outcome } }: Call,
  failure?: AudienceError,
): TimeoutError {
  const message = failure
    ? `The call's next attempt would begin after its deadline of ${deadlineMs} ms.`
    : `The call did not end within its deadline of ${deadlineMs} ms.`;
  return new TimeoutError({ message, outcome, timeoutMs: deadlineMs, cause: failure });
}

function abortError(signal: AbortSignal, { context: { outcome } }: Call): AbortError {
  return new AbortError({ outcome, cause: signal.reason });
}
