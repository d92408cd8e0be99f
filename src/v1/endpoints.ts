import * as z from "zod";
import type { Endpoint } from "../endpoint.ts";
import type { DecodedPage } from "../pagination/has-next-page.ts";
import { parseId, parseResponse, UndecodableResponse } from "../schema/response.ts";
import { callOptionsSchema, consentOption } from "../transport/call-options.ts";
import { contactKeys, decidedByService, v1Consent } from "../transport/contact.ts";
import { decodeContactGroup, decodeProfile } from "./envelope.ts";
import { parseV1Page, type PageDecoder, type ParsePage } from "./list-page.ts";
import {
  v1AddContactResultSchema,
  v1ContactGroupListQuerySchema,
  type AddContactResult,
  type ContactGroup,
} from "./schemas/contact-group.ts";
import {
  v1ConsentedListContactSchema,
  v1ContactSchema,
  v1CustomerListQuerySchema,
  v1ListContactSchema,
  type V1Contact,
  type V1ListContact,
} from "./schemas/contact.ts";
import { v1EventSchema, type V1Event } from "./schemas/event.ts";
import { v1ProfileSchema, type Profile } from "./schemas/profile.ts";

/** The result of `v1.events.send`. The response is not documented, so status and body are unchanged. */
export interface EventResult {
  /** The id that makes the event safe to send again: the event's own, or a generated one. */
  readonly uniqueIdentifier: string;
  /** The 2xx status of the response. */
  readonly status: number;
  /** The parsed JSON, else the string; undefined if the response had no body. */
  readonly body: unknown;
}

/** `POST /api/v1/customer/create` */
export const upsertCustomer: Endpoint<V1Contact, Profile> = {
  operation: "v1.customers.upsert",
  method: "POST",
  path: "/api/v1/customer/create",
  body: v1ContactSchema,
  isRepeatable: statesAllConsent,
  contactsOf: (contact) => contactKeys([contact]),
  consentOf: v1Consent,
  appliedTo: ({ id, attributes: { email, phone } }) => ({
    contacts: contactKeys([{ contactUUID: id, email, phone }]),
  }),
  decode: ({ body }) => decodeCustomer(body),
};

/** `GET /api/v1/customer/{id}` */
export const getCustomer: Endpoint<undefined, Profile> = {
  operation: "v1.customers.get",
  method: "GET",
  path: "/api/v1/customer/{id}",
  decode: ({ body }) => decodeCustomer(body),
};

/** `GET /api/v1/customer` */
export const listCustomers = (parsePage: ParsePage | undefined) =>
  list(
    { operation: "v1.customers.list", path: "/api/v1/customer", query: v1CustomerListQuerySchema },
    { decodeItem: decodeProfile, parsePage },
  );

/** `GET /api/v1/contact-groups` */
export const listContactGroups = (parsePage: ParsePage | undefined) =>
  list(
    {
      operation: "v1.contactGroups.list",
      path: "/api/v1/contact-groups",
      query: v1ContactGroupListQuerySchema,
    },
    { decodeItem: decodeContactGroup, parsePage },
  );

function list<T>(
  endpoint: Pick<Endpoint<undefined, T>, "operation" | "path" | "query">,
  decodePage: Omit<PageDecoder<T>, "operation">,
): Endpoint<undefined, DecodedPage<T>> {
  const { operation } = endpoint;
  return {
    method: "GET",
    ...endpoint,
    decode: ({ body }) => parseV1Page(body, { operation, ...decodePage }),
  };
}

/** `GET /api/v1/contact-groups/{id}`; the shape of its response is not documented. */
export const getContactGroup: Endpoint<undefined, ContactGroup> = {
  operation: "v1.contactGroups.get",
  method: "GET",
  path: "/api/v1/contact-groups/{id}",
  decode: ({ body }) => {
    const group = decodeContactGroup(body);
    if (!group) throw new UndecodableResponse("its body holds no contact group with an id.");
    return group;
  },
};

const addContactOptionsSchema = callOptionsSchema.extend({ consent: consentOption });

/**
 * `POST /api/v1/contact-groups/{listId}/contacts`. `email_opt_in` is required, unless the call leaves it to the service
 * ("States and transitions").
 */
export const addContact: Endpoint<V1ListContact, AddContactResult> = {
  operation: "v1.contactGroups.addContact",
  method: "POST",
  path: "/api/v1/contact-groups/{listId}/contacts",
  options: addContactOptionsSchema,
  body: ({ consent }) => (consent === "service-decides" ? v1ListContactSchema : v1ConsentedListContactSchema),
  isRepeatable: statesAllConsent,
  contactsOf: (contact) => contactKeys([contact]),
  consentOf: (contact) => ({ email: decidedByService, ...v1Consent(contact) }),
  appliedTo: ({ contact: { contactUUID, email, action } }, sent) => ({
    contacts: contactKeys([{ contactUUID, email }]),
    // "States and transitions": the effect of an omitted `email_opt_in` on a new contact, and on an existing one.
    consent: { email: action === "created" ? "NON_SUBSCRIBED" : "SUBSCRIBED", ...v1Consent(sent) },
  }),
  mayHaveWrittenOn404: () => true,
  decode: ({ body }) => {
    const { contact, ...result } = parseResponse(receivedContactSchema, body);
    const contactUUID = parseId(contact.contactUUID);
    if (contactUUID === undefined) {
      throw new UndecodableResponse("`contact.contactUUID` of its body is no id.");
    }
    return { ...result, contact: { ...contact, contactUUID } };
  },
};

/** `POST /api/v1/events`: safe to repeat, because every attempt carries the same `uniqueIdentifier`. */
export const sendEvent: Endpoint<V1Event, EventResult> = {
  operation: "v1.events.send",
  method: "POST",
  path: "/api/v1/events",
  body: v1EventSchema,
  complete: (event, newId) => ({ ...event, uniqueIdentifier: identifierOf(event) ?? newId() }),
  identifierOf,
  contactsOf: ({ contact, contactUUID }) => contactKeys([contact, { contactUUID }]),
  isRepeatable: () => true,
  acceptsAnyResponse: true,
  // Safe: `complete` has added the identifier.
  decode: ({ status, body }, sent) => ({ uniqueIdentifier: identifierOf(sent)!, status, body }),
};

function identifierOf({ uniqueIdentifier }: V1Event): string | undefined {
  return uniqueIdentifier;
}

/**
 * Whether a contact write that is carried out twice leaves the same state. Without `email_opt_in` add-to-list first
 * creates the contact as `NON_SUBSCRIBED`, and then makes it `SUBSCRIBED` ("States and transitions"); customer/create
 * does not document the case. With `double_opt_in` the service could send a second mail.
 */
function statesAllConsent({ email, email_opt_in, phone, phone_opt_in, double_opt_in }: V1Contact): boolean {
  if (double_opt_in === true) return false;
  if (email !== undefined && email_opt_in === undefined) return false;
  return phone === undefined || phone_opt_in !== undefined;
}

/** A number too, which becomes a string (D24). */
const receivedId = z.union([z.string(), z.number()]);

const receivedContactSchema = v1AddContactResultSchema.extend({
  contact: v1AddContactResultSchema.shape.contact.extend({ contactUUID: receivedId }),
});

const receivedProfileSchema = v1ProfileSchema.extend({
  data: v1ProfileSchema.shape.data.extend({ id: receivedId }),
});

function decodeCustomer(body: unknown): Profile {
  parseResponse(receivedProfileSchema, body);
  const profile = decodeProfile(body);
  if (!profile) throw new UndecodableResponse("its body holds no contact with an id.");
  return profile;
}
