import { untilAborted } from "./abort-signal.ts";
import type { ApiResponse, Call, Send } from "./call.ts";

/**
 * Sends writes to one contact one after the other, in call order, so that a later `UNSUBSCRIBED` is never overwritten by
 * a retried `SUBSCRIBED`. Writes to other contacts do not wait.
 */
export function inOrder(send: Send): Send {
  return (call) => {
    const { contacts } = call.request;
    // A row of bulk may wait for an hour: it takes its turn when it leaves (`permit.ts`).
    if (contacts.length === 0 || call.gate) return send(call);
    return call.client.turns.take(contacts, (before) =>
      before ? sendAfter(before, call, send) : send(call),
    );
  };
}

/** The call takes its position in the queue of the rate limit before it waits. */
async function sendAfter(before: Promise<unknown>, call: Call, send: Send): Promise<ApiResponse> {
  const { client, context, options, settings, stop } = call;
  const queue = client.limiter.current?.dispatcher.queue;
  const waitsSince = performance.now();
  settings.observer.report(context, { attempt: 1 }, "waits for an earlier write to the same contact");
  call.position = queue?.takePosition();
  const endAhead = queue?.callAhead(options.priority);
  try {
    await untilAborted(before, stop.signal);
  } finally {
    endAhead?.();
    context.queuedMs += performance.now() - waitsSince;
  }
  return await send(call);
}
