import type { ConsentWrite } from "../consent.ts";
import { isOnePersons } from "../contact-keys.ts";
import { withoutPrototype } from "../values/predicates.ts";
import { untilAborted } from "./abort-signal.ts";
import type { FamilyIdentity } from "./api-key.ts";
import type { ConsentListener, PreparedCall, Send } from "./call.ts";

interface Registry {
  readonly listeners: Set<ConsentListener>;
  /** The writes that state a consent, from their begin to their end. */
  readonly consentWrites: Map<readonly ConsentWrite[], readonly FamilyIdentity[]>;
}

/** One of the process, which both module formats share: a run must know the writes of every client. */
const registryKey = Symbol.for("audience-sdk.consent-registry");

function registry(): Registry {
  // Safe: only this package writes this property.
  const global = globalThis as { [registryKey]?: Registry };
  return (global[registryKey] ??= { listeners: new Set(), consentWrites: new Map() });
}

/** Notifies a listener of consent writes, also of those under way, until the returned function is called. */
export function listenToConsents(listener: ConsentListener): () => void {
  const { listeners, consentWrites } = registry();
  listeners.add(listener);
  for (const [consents, families] of consentWrites)
    if (listener.concerns(families)) void listener.begins(consents, families);
  return () => void listeners.delete(listener);
}

/**
 * Notifies each listener of a consent write, before it is sent and after its end. Inside the write order, so that it knows
 * each write before the contact's next one begins.
 */
export function tellListeners(send: Send): Send {
  return async (call) => {
    const { context, gate, settings, stop } = call;
    const { consents } = call.request;
    if (consents.length === 0) return await send(call);
    const { families } = settings;
    const { listeners, consentWrites } = registry();
    // A listener may begin or end to listen meanwhile.
    const tell = (notify: (listener: ConsentListener) => Promise<void>) =>
      [...listeners].filter((one) => one !== gate?.listener && one.concerns(families)).map(notify);
    consentWrites.set(consents, families);
    try {
      // Without a listener the call is sent in the same tick of the event loop.
      if (listeners.size > 0)
        await untilAborted(Promise.all(tell((listener) => listener.begins(consents, families))), stop.signal);
      const response = await send(call);
      if (listeners.size > 0) {
        const applied = appliedConsent(call.request, response.data);
        await Promise.all(tell((listener) => listener.ended(consents, "applied", applied)));
      }
      return response;
    } catch (error) {
      // The gate may have made the write anew.
      const { consents: lastConsents } = call.request;
      await Promise.all(tell((listener) => listener.ended(consents, context.outcome, lastConsents)));
      throw error;
    } finally {
      consentWrites.delete(consents);
    }
  };
}

/** A consent write as its response shows it: with further keys of the contact, and the service's decision. */
export function appliedConsent(
  { consents, endpoint, sent }: PreparedCall,
  data: unknown,
): readonly ConsentWrite[] {
  const fromResponse = consents.length > 0 ? endpoint.appliedTo?.(data, sent) : undefined;
  if (!fromResponse) return consents;
  return consents.map(({ contacts, consent }) => ({
    contacts: [...new Set([...contacts, ...fromResponse.contacts.filter(isOnePersons)])],
    consent: withoutPrototype(fromResponse).consent ?? consent,
  }));
}
