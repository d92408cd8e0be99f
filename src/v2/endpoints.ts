import type { Endpoint } from "../endpoint.ts";
import type { DecodedPage } from "../pagination/has-next-page.ts";
import { parseResponse } from "../schema/response.ts";
import { contactKeys, v2Consent } from "../transport/contact.ts";
import { parseListPage } from "./list-page.ts";
import {
  v2ContactSchema,
  v2UpsertResultSchema,
  type V2Contact,
  type V2UpsertResult,
} from "./schemas/contact.ts";
import { v2ListQuerySchema, type List } from "./schemas/list.ts";

/** `POST /v2/contacts` */
export const upsertContact: Endpoint<V2Contact, V2UpsertResult> = {
  operation: "v2.contacts.upsert",
  method: "POST",
  path: "/v2/contacts",
  body: v2ContactSchema,
  isRepeatable: statesAllConsent,
  contactsOf: ({ identifiers }) => contactKeys(identifiers.map(({ type, id }) => ({ [type]: id }))),
  consentOf: ({ identifiers }) => v2Consent(identifiers),
  decode: ({ body }) => parseResponse(v2UpsertResultSchema, body),
};

/** `GET /v2/lists` */
export const listLists: Endpoint<undefined, DecodedPage<List>> = {
  operation: "v2.lists.list",
  method: "GET",
  path: "/v2/lists",
  query: v2ListQuerySchema,
  decode: ({ body }) => parseListPage(body),
};

/**
 * Whether a write that is carried out twice leaves the same state: each identifier has the status of its own channel,
 * because transitions of v2 statuses are not documented ("States and transitions"), and there is no welcome mail.
 */
function statesAllConsent({ identifiers, triggerWelcomeEmail }: V2Contact): boolean {
  return (
    triggerWelcomeEmail !== true &&
    identifiers.every(({ type, channels }) => channels[type]?.status !== undefined)
  );
}
