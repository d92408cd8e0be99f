import { v2ConsentWrites } from "../consent.ts";
import { v2ContactKeys } from "../contact-keys.ts";
import type { Endpoint } from "../endpoint.ts";
import { parseResponse } from "../schema/response-values.ts";
import type { ApiPromise } from "../transport/api-promise.ts";
import type { CallOptions } from "../transport/call-options.ts";
import type { CallEndpoint } from "../transport/transport.ts";
import {
  v2ContactSchema,
  v2UpsertResultSchema,
  type V2Contact,
  type V2UpsertResult,
} from "./schemas/contact.ts";

/** The contacts of the v2 family. */
export interface V2Contacts {
  /**
   * Creates a contact, or updates the contact that an identifier matches (`POST /v2/contacts`), and resolves to the
   * response's body.
   *
   * A new contact needs an e-mail identifier. Give the status of each identifier's channel: without it, or with
   * `triggerWelcomeEmail`, the write is not retried after a lost response.
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
   *
   * @throws ValidationError if the contact is invalid: all problems at once, and nothing is sent.
   * @throws AudienceError of another class if the call fails; its `outcome` says whether the service may have done it.
   */
  upsert(contact: V2Contact, options?: CallOptions): ApiPromise<V2UpsertResult>;
}

export function v2Contacts(call: CallEndpoint): V2Contacts {
  return { upsert: (contact, options) => call(upsertContact, { body: contact }, options) };
}

export const upsertContact: Endpoint<V2Contact, V2UpsertResult> = {
  operation: "v2.contacts.upsert",
  method: "POST",
  path: "/v2/contacts",
  body: v2ContactSchema,
  isRepeatable: statesAllConsent,
  contactsOf: v2ContactKeys,
  consentsOf: v2ConsentWrites,
  decode: ({ body }) => parseResponse(v2UpsertResultSchema, body),
};

/**
 * Whether a write that is carried out twice leaves the same state: each identifier has the status of its own channel,
 * because transitions of v2 statuses are not documented ("States and transitions"), and there is no welcome mail.
 */
function statesAllConsent({ identifiers, triggerWelcomeEmail }: V2Contact): boolean {
  const haveStatus = identifiers.every(({ type, channels }) => channels[type]?.status !== undefined);
  return haveStatus && triggerWelcomeEmail !== true;
}
