import { untilAborted } from "./abort.ts";
import type { ApiResponse, Call, Send } from "./call.ts";
import type { WriteChain } from "./client-state.ts";

/**
 * Sends writes to one contact one after the other, in call order, so that a later `UNSUBSCRIBED` is never overwritten by
 * a retried `SUBSCRIBED`. Writes to other contacts do not wait.
 */
export function inOrder(send: Send): Send {
  return (call) => {
    const { contacts } = call.request;
    if (contacts.length === 0) return send(call);
    const { writeChains } = call.client;
    const chains = new Set<WriteChain>();
    for (const contact of contacts) {
      const earlier = writeChains.get(contact);
      if (earlier) chains.add(earlier);
    }
    const earlierWrites = [...chains].map(({ end }) => end);
    const result = chains.size > 0 ? sendAfter(earlierWrites, call, send) : send(call);
    // Includes the earlier writes: if this one is aborted while it waits, the next one still waits for them.
    const end = Promise.allSettled([...earlierWrites, result]).then(() => {
      for (const contact of chain.contacts)
        if (chain.end === end && writeChains.get(contact) === chain) writeChains.delete(contact);
    });
    // The keys of one write are one contact's: until all its writes have ended, any of them leads to this chain.
    const [chain = { contacts: new Set<string>(), end }, ...others] = chains;
    chain.end = end;
    for (const contact of [...contacts, ...others.flatMap((other) => [...other.contacts])]) {
      chain.contacts.add(contact);
      writeChains.set(contact, chain);
    }
    return result;
  };
}

/** The call takes its position in the queue of the rate limit before it waits. */
async function sendAfter(
  earlierWrites: readonly Promise<void>[],
  call: Call,
  send: Send,
): Promise<ApiResponse> {
  const { client, context, settings, stop } = call;
  const askedAt = performance.now();
  settings.observer.report(context, { attempt: 1 }, "waits for an earlier write to the same contact");
  call.position = client.limiter.current?.takePosition();
  await untilAborted(Promise.all(earlierWrites), stop.signal);
  context.queuedMs += performance.now() - askedAt;
  return await send(call);
}
