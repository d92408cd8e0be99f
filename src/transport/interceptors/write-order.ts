import { untilAborted } from "../abort.ts";
import type { Handler, Interceptor, RequestContext } from "../interceptor.ts";

/**
 * Writes to one contact, one after the other, in call order: so a retried `SUBSCRIBED` never overtakes the
 * `UNSUBSCRIBED` that was called after it. Other contacts are not held up, and nothing is kept for one without a call.
 */
export const writeOrder: Interceptor = (next) => (context) => {
  const { contacts } = context.request;
  const { lastWrites } = context.client;
  const earlierWrites = contacts.flatMap((contact) => lastWrites.get(contact) ?? []);
  const result = earlierWrites.length > 0 ? sendAfter(earlierWrites, context, next) : next(context);
  if (contacts.length === 0) return result;
  // With those before it: where it was aborted while it waited, the next one still waits for them.
  const end = Promise.allSettled([...earlierWrites, result]).then(() => {
    for (const contact of contacts) if (lastWrites.get(contact) === end) lastWrites.delete(contact);
  });
  for (const contact of contacts) lastWrites.set(contact, end);
  return result;
};

async function sendAfter(earlierWrites: readonly Promise<void>[], context: RequestContext, next: Handler) {
  const { observer, now } = context.settings;
  const askedAt = now();
  observer.waitsForContact(context);
  await untilAborted(Promise.all(earlierWrites), context.stopWaiting.signal);
  context.queuedMs += now() - askedAt;
  return await next(context);
}

/**
 * Tells each watch of a write that states a consent, before it is sent and after it has ended; within the order of
 * writes, so that the next write to the contact knows what this one wrote.
 */
export const consentGuard: Interceptor = (next) => async (context) => {
  const { client, options, request, stopWaiting } = context;
  const { consentWrite } = request;
  if (!consentWrite || Object.keys(consentWrite.consent).length === 0) return await next(context);
  // Asked twice: a watch that comes while the write is under way is told of its end.
  const others = () => [...client.consentWatches].filter((one) => one !== options.extension?.consentWatch);
  const starting = others().map((watch) => watch.begins(consentWrite));
  try {
    // Where nobody watches, the call leaves in the turn in which it was made.
    if (starting.length > 0) {
      await Promise.all(starting);
      stopWaiting.signal.throwIfAborted();
    }
    const response = await next(context);
    for (const watch of others()) watch.ended(request.appliedConsent(consentWrite, response.data), "applied");
    return response;
  } catch (error) {
    for (const watch of others()) watch.ended(consentWrite, context.outcome);
    throw error;
  }
};
