import type { ApiPromise } from "../transport/api-promise.ts";
import type { CallOptions } from "../transport/call-options.ts";
import type { CallEndpoint } from "../transport/transport.ts";
import { upsertContact } from "./endpoints.ts";
import type { V2Contact, V2UpsertResult } from "./schemas/contact.ts";

/** The contacts of the v2 family. */
export interface V2Contacts {
  /**
   * Creates a contact, or updates the one that an identifier matches (`POST /v2/contacts`).
   *
   * Creating needs an e-mail identifier. Say the status of each identifier's channel: without one, or with
   * `triggerWelcomeEmail`, the write is not sent again after a lost answer.
   *
   * ```ts
   * await audience.v2.contacts.upsert({
   *   firstName: "Ada",
   *   listIds: [listId],
   *   identifiers: [
   *     {
   *       type: "email",
   *       id: "ada@example.com",
   *       channels: { email: { status: "subscribed" } },
   *       consent: { createdAt: new Date(), ip: "192.0.2.1", source: "web form" },
   *     },
   *   ],
   * });
   * ```
   */
  upsert(contact: V2Contact, options?: CallOptions): ApiPromise<V2UpsertResult>;
}

/** Each call stands alone: taken off its object, it is the same call. */
export function v2Contacts(call: CallEndpoint): V2Contacts {
  return { upsert: (contact, options) => call(upsertContact, { body: contact }, options) };
}
