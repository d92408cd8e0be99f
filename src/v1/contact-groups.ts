import { LIMITS } from "../limits.ts";
import { listPages, type ListOptions } from "../pagination/list-pages.ts";
import type { Paginator } from "../pagination/paginator.ts";
import type { ApiPromise } from "../transport/api-promise.ts";
import type { CallOptions } from "../transport/call-options.ts";
import type { CallEndpoint } from "../transport/transport.ts";
import { addContact, getContactGroup, listContactGroups } from "./endpoints.ts";
import type { ParsePage } from "./parse-page.ts";
import type { AddContactResult, ContactGroup, V1ContactGroupListQuery } from "./schemas/contact-group.ts";
import type { V1ConsentedListContact, V1ListContact } from "./schemas/contact.ts";

/** Options of `addContact`. */
export interface AddContactOptions extends CallOptions {
  /**
   * Leaves an omitted `email_opt_in` to the service: a new contact becomes `NON_SUBSCRIBED`, an existing one
   * `SUBSCRIBED`, even if it had unsubscribed ("States and transitions").
   */
  consent?: "service-decides" | undefined;
}

/** Lists and segments of the v1 family, which calls them contact groups. */
export interface V1ContactGroups {
  /**
   * All lists and segments (`GET /api/v1/contact-groups`), in pages of 100. Sends nothing until awaited or iterated.
   *
   * ```ts
   * for await (const group of audience.v1.contactGroups.list({ type: "LIST" })) console.log(group.id);
   * ```
   */
  list(query?: V1ContactGroupListQuery, options?: ListOptions): Paginator<ContactGroup>;

  /**
   * One list or segment by its id (`GET /api/v1/contact-groups/{id}`). Its fields are not documented and passed through.
   *
   * ```ts
   * const group = await audience.v1.contactGroups.get(listId);
   * ```
   */
  get(id: string, options?: CallOptions): ApiPromise<ContactGroup>;

  /**
   * Creates or updates a contact and adds it to a list (`POST /api/v1/contact-groups/{listId}/contacts`).
   *
   * `email_opt_in` is required: left out, the service would make an existing contact `SUBSCRIBED`, even one that had
   * unsubscribed. A `NotFoundError` means that the list does not exist; the contact may have been created all the same.
   *
   * ```ts
   * const { contact } = await audience.v1.contactGroups.addContact(listId, {
   *   email: "ada@example.com",
   *   email_opt_in: "SUBSCRIBED",
   * });
   * contact.action; // "created" or "updated"
   * ```
   */
  addContact(
    listId: string,
    contact: V1ConsentedListContact,
    options?: AddContactOptions,
  ): ApiPromise<AddContactResult>;
  /** The same, where the call says that the service is to decide about an `email_opt_in` that is left out. */
  addContact(
    listId: string,
    contact: V1ListContact,
    options: AddContactOptions & { consent: "service-decides" },
  ): ApiPromise<AddContactResult>;
}

/** Each call stands alone: taken off its object, it is the same call. */
export function v1ContactGroups(call: CallEndpoint, parsePage: ParsePage | undefined): V1ContactGroups {
  return {
    list: (query, options) =>
      listPages({
        call,
        endpoint: listContactGroups(parsePage),
        query,
        options,
        longestPage: LIMITS.limit.max,
        identify: ({ id }) => id,
      }),
    get: (id, options) => call(getContactGroup, { params: { id } }, options),
    addContact: (listId: string, contact: V1ListContact, options?: AddContactOptions) =>
      call(addContact, { params: { listId }, body: contact }, options),
  };
}
