import { decidedByService, isRepeatableV1Write, v1Consent, v1ConsentWrites } from "../consent.ts";
import { contactKeys } from "../contact-keys.ts";
import type { Endpoint } from "../endpoint.ts";
import { type ListOptions, listPages, type Paginator } from "../pagination/paginator.ts";
import { parseId, parseResponse, receivedId, required } from "../schema/response-values.ts";
import type { ApiPromise } from "../transport/api-promise.ts";
import {
  addContactOptionsSchema,
  type AddContactOptions,
  type CallOptions,
} from "../transport/call-options.ts";
import type { CallEndpoint } from "../transport/transport.ts";
import {
  v1AddContactResultSchema,
  v1ContactGroupListQuerySchema,
  type AddContactResult,
  type ContactGroup,
  type V1ContactGroupListQuery,
} from "./contact-group-schema.ts";
import {
  v1ConsentedListContactSchema,
  v1ListContactSchema,
  type V1ConsentedListContact,
  type V1ListContact,
} from "./contact-schema.ts";
import { openEnvelope } from "./profile.ts";
import { type ParsePage, v1List } from "./v1-list.ts";

type ServiceDecides = [options: { readonly consent: "service-decides" }];

/** The contact that `addContact` takes before its options: with an `email_opt_in`, unless they leave it to the service. */
export type ContactToAdd<Options extends unknown[]> = [Options] extends [ServiceDecides]
  ? V1ListContact
  : V1ConsentedListContact;

/** The contact groups of the v1 family: lists and segments. */
export interface V1ContactGroups {
  /**
   * Lists all lists and segments, or with `type` one kind (`GET /api/v1/contact-groups`): iterated, it gives each group
   * once; awaited, one page. It sends nothing before. `limit` is 100 groups a page by default, the service's maximum.
   *
   * ```ts
   * for await (const group of audience.v1.contactGroups.list({ type: "LIST" })) console.log(group.id);
   * ```
   *
   * @throws ValidationError, once it is awaited or iterated, if the query is invalid.
   * @throws UnexpectedResponseError if the list has a shape that is not known: the option `parsePage` reads it.
   */
  list(query?: V1ContactGroupListQuery, options?: ListOptions): Paginator<ContactGroup>;

  /**
   * Gets a list or segment by its id (`GET /api/v1/contact-groups/{id}`). Its other fields are not documented and stay
   * as they are.
   *
   * ```ts
   * const group = await audience.v1.contactGroups.get(listId);
   * ```
   *
   * @throws NotFoundError if no list or segment has the id.
   * @throws ValidationError if the id is empty or blank, `.` or `..`.
   */
  get(id: string, options?: CallOptions): ApiPromise<ContactGroup>;

  /**
   * Creates or updates a contact and adds it to a list (`POST /api/v1/contact-groups/{listId}/contacts`).
   *
   * `email_opt_in` is required: without it the service would make an existing contact `SUBSCRIBED`, even one that had
   * unsubscribed ("States and transitions").
   *
   * ```ts
   * const { contact } = await audience.v1.contactGroups.addContact(listId, {
   *   email: "ada@example.com",
   *   email_opt_in: "SUBSCRIBED",
   * });
   * contact.action; // "created" or "updated"
   * ```
   *
   * @throws ValidationError if the contact is invalid, or has no `email_opt_in`: nothing is sent.
   * @throws NotFoundError if no list has the id; the contact may have been created all the same.
   * @throws AudienceError of another class if the call fails; its `outcome` says whether the service may have done it.
   */
  addContact<Options extends [options?: AddContactOptions]>(
    listId: string,
    contact: ContactToAdd<Options>,
    ...options: Options
  ): ApiPromise<AddContactResult>;
}

export function v1ContactGroups(call: CallEndpoint, parsePage: ParsePage | undefined): V1ContactGroups {
  const contactGroups = v1List(listContactGroups, parsePage);
  return {
    list: (query, options) => listPages(call, contactGroups, query, options),
    get: (id, options) => call(getContactGroup, { params: { id } }, options),
    addContact: (listId, contact, ...[options]) =>
      call(addContact, { params: { listId }, body: contact }, options),
  };
}

const listContactGroups = {
  operation: "v1.contactGroups.list",
  path: "/api/v1/contact-groups",
  query: v1ContactGroupListQuerySchema,
  names: ["contactgroups", "groups", "lists", "segments"],
  decodeItem: decodeContactGroup,
} as const;

/**
 * Decodes a list or segment, with or without an envelope; `undefined` without an id. Its other keys are not documented
 * ("v1 list (contact group)") and stay as they are.
 */
function decodeContactGroup(value: unknown): ContactGroup | undefined {
  return openEnvelope(value, (group) => group);
}

/** `GET /api/v1/contact-groups/{id}`; the shape of its response is not documented. */
const getContactGroup: Endpoint<undefined, ContactGroup> = {
  operation: "v1.contactGroups.get",
  method: "GET",
  path: "/api/v1/contact-groups/{id}",
  idHint: "is it a name? contactGroups.list() shows the ids",
  decode: ({ body }) => required(decodeContactGroup(body), "its body holds no contact group with an id."),
};

const receivedAddContactSchema = v1AddContactResultSchema.extend({
  contact: v1AddContactResultSchema.shape.contact.extend({ contactUUID: receivedId }),
});

export const addContact: Endpoint<V1ListContact, AddContactResult> = {
  operation: "v1.contactGroups.addContact",
  method: "POST",
  path: "/api/v1/contact-groups/{listId}/contacts",
  idHint: 'is it a name, or the id of a segment? contactGroups.list({ type: "LIST" }) shows the ids of lists',
  options: addContactOptionsSchema,
  body: ({ consent }) => (consent === "service-decides" ? v1ListContactSchema : v1ConsentedListContactSchema),
  isRepeatable: isRepeatableV1Write,
  contactsOf: (contact) => contactKeys([contact]),
  consentsOf: (contact) => v1ConsentWrites(contact, decidedByService),
  appliedTo: ({ contact }, sent) => ({
    contacts: contactKeys([contact]),
    // "States and transitions": the effect of an omitted `email_opt_in` on a new contact, and on an existing one.
    consent: v1Consent(sent, contact.action === "created" ? "NON_SUBSCRIBED" : "SUBSCRIBED"),
  }),
  mayHaveWrittenOn404: () => true,
  decode: ({ body }) => {
    const { contact, ...result } = parseResponse(receivedAddContactSchema, body);
    const contactUUID = required(parseId(contact.contactUUID), "`contact.contactUUID` of its body is no id.");
    return { ...result, contact: { ...contact, contactUUID } };
  },
};
