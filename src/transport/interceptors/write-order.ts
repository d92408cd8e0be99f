import { untilAborted } from "../abort.ts";
import type { Handler, Interceptor, RequestContext } from "../interceptor.ts";

/**
 * Sends writes to one contact one after the other, in call order, so that a later `UNSUBSCRIBED` is never overwritten by
 * a retried `SUBSCRIBED`. Writes to other contacts do not wait.
 */
export const writeOrder: Interceptor = (next) => (context) => {
  const { contacts } = context.request;
  if (contacts.length === 0) return next(context);
  const { writeChains } = context.client;
  const chains = new Set(contacts.flatMap((contact) => writeChains.get(contact) ?? []));
  const earlierWrites = [...chains].map(({ end }) => end);
  const result = chains.size > 0 ? sendAfter(earlierWrites, context, next) : next(context);
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

async function sendAfter(earlierWrites: readonly Promise<void>[], context: RequestContext, next: Handler) {
  const askedAt = performance.now();
  context.settings.observer.waitsForContact(context.facts);
  context.place = context.client.limiter?.takePlace();
  await untilAborted(Promise.all(earlierWrites), context.stopWaiting.signal);
  context.queuedMs += performance.now() - askedAt;
  return await next(context);
}

/**
 * Notifies each watch of a consent write, before it is sent and after its end. Inside the write order, so that the watch
 * knows each write before the contact's next one begins.
 */
export const consentGuard: Interceptor = (next) => async (context) => {
  const { client, options, request, stopWaiting } = context;
  const { consentWrite } = request;
  if (!consentWrite || Object.keys(consentWrite.consent).length === 0) return await next(context);
  // A function, because a watch that is added during the write is notified of it too.
  const others = () => [...client.consentWatches].filter((one) => one !== options.extension?.consentWatch);
  client.consentWrites.add(consentWrite);
  const starting = others().map((watch) => watch.begins(consentWrite));
  try {
    // Without a watch the call is sent in the same tick of the event loop.
    if (starting.length > 0) {
      await Promise.all(starting);
      stopWaiting.signal.throwIfAborted();
    }
    const response = await next(context);
    const applied = request.appliedConsent(consentWrite, response.data);
    for (const watch of others()) watch.ended(consentWrite, "applied", applied);
    return response;
  } catch (error) {
    for (const watch of others()) watch.ended(consentWrite, context.outcome);
    throw error;
  } finally {
    client.consentWrites.delete(consentWrite);
  }
};
