// The entry "audience-sdk/schemas": the definitions that the client reads by, as zod schemas. It loads zod and nothing else, so that forms and checks can use it anywhere.
import { v1AddContactResult, v1ContactGroupListQuery } from "./v1/schemas/contact-group.ts";
import { v1Contact, v1ContactFields, v1CustomerListQuery, v1ListContact } from "./v1/schemas/contact.ts";
import { v2ListPage } from "./v2/schemas/list-page.ts";
import { v1Event, v1EventFields } from "./v1/schemas/event.ts";
import { v1Profile } from "./v1/schemas/profile.ts";
import { v2Contact, v2ContactFields } from "./v2/schemas/contact.ts";
import { zodSchema } from "./zod/zod-schema.ts";
import { v2Identifier } from "./v2/schemas/identifier.ts";
import { v2ListQuery } from "./v2/schemas/list.ts";

export { LIMITS } from "./limits.ts";
export { flattenProperties, type FlattenOptions } from "./flatten-properties.ts";

/** A v1 contact, as `v1.customers.upsert` sends it: at least an `email` or a `phone` ("v1 contact"). */
export const v1ContactSchema = zodSchema(v1Contact);
/**
 * The fields of a v1 contact, without the rule that an `email` or a `phone` is needed: for `.extend`, `.pick`,
 * `.omit` and `.partial`. Any other field is refused, as the service refuses it.
 */
export const v1ContactFieldsSchema: typeof v1ContactSchema = zodSchema(v1ContactFields);
/** Which page of the contacts (`GET /api/v1/customer`). */
export const v1CustomerListQuerySchema = zodSchema(v1CustomerListQuery);

/** A contact that is added to a list, as documented: `email_opt_in` may be left out. */
export const v1ListContactSchema = zodSchema(v1ListContact);
/** The fields of a contact that is added to a list: for `.extend`, `.pick`, `.omit` and `.partial`. */
export const v1ListContactFieldsSchema: typeof v1ListContactSchema = v1ListContactSchema;
/** Which page of the lists and segments (`GET /api/v1/contact-groups`). */
export const v1ContactGroupListQuerySchema = zodSchema(v1ContactGroupListQuery);
/** The answer to adding a contact to a list. Needed: `contact.contactUUID` and `contact.action`. */
export const v1AddContactResultSchema = zodSchema(v1AddContactResult);

/** A custom event that names its contact, by an `email` or a `contactUUID` ("Custom event"). */
export const v1EventSchema = zodSchema(v1Event);
/** The fields of a custom event, without the rule that it names a contact: for `.extend`, `.pick`, `.omit` and `.partial`. */
export const v1EventFieldsSchema: typeof v1EventSchema = zodSchema(v1EventFields);

/** The answer to a v1 contact request ("v1 contact (profile) response envelope"). Needed: `data.id`. */
export const v1ProfileSchema = zodSchema(v1Profile);

/** A v2 contact, as `v2.contacts.upsert` sends it ("v2 contact", "v2 identifier object"). */
export const v2ContactSchema = zodSchema(v2Contact);
/**
 * The fields of a v2 contact, without the rule on channels: for `.extend`, `.pick`, `.omit` and `.partial`. Any other
 * field is passed on.
 */
export const v2ContactFieldsSchema: typeof v2ContactSchema = zodSchema(v2ContactFields);
/** An e-mail address or a phone number of a v2 contact, with consent and status per channel ("v2 identifier object"). */
export const v2IdentifierSchema = zodSchema(v2Identifier);

/** One page of lists, the answer to `GET /v2/lists`. Needed: `data.lists` and each one's `uuid`. */
export const v2ListPageSchema = zodSchema(v2ListPage());
/** Which page of the lists (`GET /v2/lists`). */
export const v2ListQuerySchema = zodSchema(v2ListQuery);

export type { AddContactResult, ContactGroup, V1ContactGroupListQuery } from "./v1/schemas/contact-group.ts";
export type {
  V1ConsentedListContact,
  V1Contact,
  V1CustomerListQuery,
  V1ListContact,
  V1OptIn,
} from "./v1/schemas/contact.ts";
export type { V1Event } from "./v1/schemas/event.ts";
export type { Profile, ProfileAttributes, ProfileLinks, ProfileRelationships } from "./v1/schemas/profile.ts";
export type { V2Contact, V2UpsertResult } from "./v2/schemas/contact.ts";
export type { V2Identifier } from "./v2/schemas/identifier.ts";
export type { List, V2ListQuery } from "./v2/schemas/list.ts";
