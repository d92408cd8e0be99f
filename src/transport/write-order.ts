import { untilAborted } from "./abort.ts";
import type { ApiResponse, Call } from "./call.ts";

/**
 * Sends writes to one contact one after the other, in call order, so that a later `UNSUBSCRIBED` is never overwritten by
 * a retried `SUBSCRIBED`. Writes to other contacts do not wait.
 */
export function inOrder(call: Call, send: () => Promise<ApiResponse>): Promise<ApiResponse> {
  const { contacts } = call.request;
  if (contacts.length === 0) return send();
  const { writeChains } = call.client;
  const chains = new Set(contacts.flatMap((contact) => writeChains.get(contact) ?? []));
  const earlierWrites = [...chains].map(({ end }) => end);
  const result = chains.size > 0 ? sendAfter(earlierWrites, call, send) : send();
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
}

/** The call takes its position in the queue of the rate limit before it waits. */
async function sendAfter(
  earlierWrites: readonly Promise<void>[],
  call: Call,
  send: () => Promise<ApiResponse>,
): Promise<ApiResponse> {
  const { client, report, settings, stopWaiting } = call;
  const askedAt = performance.now();
  settings.observer.waitsForContact(report.facts);
  call.position = client.limiter?.takePosition();
  await untilAborted(Promise.all(earlierWrites), stopWaiting.signal);
  report.queuedMs += performance.now() - askedAt;
  return await send();
}
