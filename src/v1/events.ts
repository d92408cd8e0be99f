import { contactKeys } from "../consent.ts";
import type { Endpoint } from "../endpoint.ts";
import type { ApiPromise } from "../transport/api-promise.ts";
import type { CallOptions } from "../transport/call-options.ts";
import type { CallEndpoint } from "../transport/transport.ts";
import { v1EventSchema, type V1Event } from "./schemas/event.ts";

/** The result of `v1.events.send`. The response is not documented, so status and body are unchanged. */
export type EventResult = {
  /** The id that makes the event safe to send again: the event's own, or a generated one. */
  readonly uniqueIdentifier: string;
  /** The 2xx status of the response. */
  readonly status: number;
  /** The parsed JSON, else the string; undefined if the response had no body. */
  readonly body: unknown;
};

/** A custom event that names, or may name, a contact. The compiler refuses only an event that cannot. */
export type WithContact<Field extends keyof V1Event> = Readonly<V1Event> &
  Pick<V1Event, Field> &
  ([Field & ("contact" | "contactUUID")] extends [never]
    ? { contact: { email: string } } | { contactUUID: string }
    : unknown);

/** Custom events of the v1 family. */
export interface V1Events {
  /**
   * Records an event on a contact's timeline, and creates the contact if needed (`POST /api/v1/events`). Resolves to the
   * event's `uniqueIdentifier`, and the response's `status` and `body`, which are not documented.
   *
   * The `uniqueIdentifier`, the event's own or a generated one, is the same in every attempt, in the result and in the
   * error. The service records an event that is sent again with it once. To be safe over a restart, give your own.
   *
   * ```ts
   * await audience.v1.events.send({
   *   eventName: "order_placed",
   *   uniqueIdentifier: `order-${order.id}`,
   *   contact: { email: "ada@example.com" },
   *   eventData: { total: 42 },
   * });
   * ```
   *
   * @throws ValidationError if the event is invalid: all problems at once, and nothing is sent.
   * @throws AudienceError of another class if the call fails; with its `uniqueIdentifier` the event is safe to send again.
   */
  send<Field extends keyof V1Event>(
    event: WithContact<Field>,
    options?: CallOptions,
  ): ApiPromise<EventResult>;
}

export function v1Events(call: CallEndpoint): V1Events {
  return { send: (event, options) => call(sendEvent, { body: event }, options) };
}

/** `POST /api/v1/events`: safe to repeat, because every attempt carries the same `uniqueIdentifier`. */
const sendEvent: Endpoint<V1Event, EventResult> = {
  operation: "v1.events.send",
  method: "POST",
  path: "/api/v1/events",
  body: v1EventSchema,
  complete: (event, newId) => ({
    ...event,
    uniqueIdentifier: event.uniqueIdentifier ?? newId(event.eventName),
  }),
  identifierOf: ({ uniqueIdentifier }) => uniqueIdentifier,
  contactsOf: ({ contact, contactUUID }) => contactKeys([contact, { contactUUID }]),
  isRepeatable: () => true,
  acceptsText: () => true,
  // Safe: `complete` has added the identifier.
  decode: ({ status, body }, sent) => ({ uniqueIdentifier: sent.uniqueIdentifier!, status, body }),
};
