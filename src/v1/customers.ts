import { isRepeatableV1Write, v1ConsentWrites } from "../consent.ts";
import { contactKeys } from "../contact-keys.ts";
import type { Endpoint, ParsedResponse } from "../endpoint.ts";
import { type ListOptions, listPages, type Paginator } from "../pagination/paginator.ts";
import { parseResponse, receivedId, required } from "../schema/response-values.ts";
import type { ApiPromise } from "../transport/api-promise.ts";
import type { CallOptions } from "../transport/call-options.ts";
import type { CallEndpoint } from "../transport/transport.ts";
import {
  v1ContactSchema,
  v1CustomerListQuerySchema,
  type V1Contact,
  type V1CustomerListQuery,
} from "./contact-schema.ts";
import { decodeProfile, type Profile, v1ProfileSchema } from "./profile.ts";
import { v1List, type ParsePage } from "./v1-list.ts";

/**
 * A v1 contact that has, or may have, an `email` or a `phone`; `Field` are the keys of the value's type. The compiler
 * refuses only a value that can have neither, so it accepts a `V1Contact`, a row of a file, or a spread.
 */
export type WithEmailOrPhone<Field extends keyof V1Contact> = Readonly<V1Contact> &
  Pick<V1Contact, Field> &
  ([Field & ("email" | "phone")] extends [never] ? EmailOrPhone : unknown);

/** The key that a message of the compiler calls missing if a contact has no email and no phone. No value has it. */
type EmailOrPhone = { "email or phone": never };

/** The customers of the v1 family: contacts. */
export interface V1Customers {
  /**
   * Creates a contact, or updates the contact with the same e-mail or phone (`POST /api/v1/customer/create`), and
   * resolves to it as the service stores it. It adds the contact to no list.
   *
   * Give `email_opt_in`: the effect of its absence on an existing contact is not documented, so such a write is not
   * retried after a lost response.
   *
   * ```ts
   * const { id } = await audience.v1.customers.upsert({ email: "ada@example.com", email_opt_in: "SUBSCRIBED" });
   * ```
   *
   * @throws ValidationError if the contact is invalid: all problems at once, and nothing is sent.
   * @throws AudienceError of another class if the call fails; its `outcome` says whether the service may have done it.
   */
  upsert<Field extends keyof V1Contact>(
    contact: WithEmailOrPhone<Field>,
    options?: CallOptions,
  ): ApiPromise<Profile>;

  /**
   * Gets a contact by its id, the `id` of a `Profile` (`GET /api/v1/customer/{id}`).
   *
   * ```ts
   * const profile = await audience.v1.customers.get(id);
   * ```
   *
   * @throws NotFoundError if no contact has the id.
   * @throws ValidationError if the id is empty or blank, `.` or `..`.
   */
  get(id: string, options?: CallOptions): ApiPromise<Profile>;

  /**
   * Lists all contacts (`GET /api/v1/customer`): iterated, it gives each contact once; awaited, one page. It sends
   * nothing before. `limit` is 100 contacts a page by default, the service's maximum.
   *
   * ```ts
   * for await (const profile of audience.v1.customers.list()) console.log(profile.attributes.email);
   * ```
   *
   * @throws ValidationError, once it is awaited or iterated, if the query is invalid.
   * @throws UnexpectedResponseError if the list has a shape that is not known: the option `parsePage` reads it.
   */
  list(query?: V1CustomerListQuery, options?: ListOptions): Paginator<Profile>;
}

export function v1Customers(call: CallEndpoint, parsePage: ParsePage | undefined): V1Customers {
  const customers = v1List(listCustomers, parsePage);
  return {
    upsert: (contact, options) => call(upsertCustomer, { body: contact }, options),
    get: (id, options) => call(getCustomer, { params: { id } }, options),
    list: (query, options) => listPages(call, customers, query, options),
  };
}

const listCustomers = {
  operation: "v1.customers.list",
  path: "/api/v1/customer",
  query: v1CustomerListQuerySchema,
  names: ["customers", "contacts", "profiles"],
  decodeItem: decodeProfile,
} as const;

export const upsertCustomer: Endpoint<V1Contact, Profile> = {
  operation: "v1.customers.upsert",
  method: "POST",
  path: "/api/v1/customer/create",
  body: v1ContactSchema,
  isRepeatable: isRepeatableV1Write,
  contactsOf: (contact) => contactKeys([contact]),
  consentsOf: (contact) => v1ConsentWrites(contact),
  appliedTo: ({ id, attributes }) => ({ contacts: contactKeys([{ ...attributes, contactUUID: id }]) }),
  decode: decodeCustomer,
};

/** `GET /api/v1/customer/{id}`: bulk calls it too, before it sends a changed row. */
export const getCustomer: Endpoint<undefined, Profile> = {
  operation: "v1.customers.get",
  method: "GET",
  path: "/api/v1/customer/{id}",
  idHint: "a contact's id is the one that upsert and list return",
  decode: decodeCustomer,
};

const receivedProfileSchema = v1ProfileSchema.extend({
  data: v1ProfileSchema.shape.data.extend({ id: receivedId }),
});

function decodeCustomer({ body }: ParsedResponse): Profile {
  parseResponse(receivedProfileSchema, body);
  return required(decodeProfile(body), "its body holds no contact with an id.");
}
