// The entry "audience-sdk/schemas": the schemas that the client validates with. It loads zod and nothing else.
export { LIMITS } from "./limits.ts";
export { flattenProperties, type FlattenOptions } from "./flatten-properties.ts";

export {
  v1ContactFieldsSchema,
  v1ContactSchema,
  v1CustomerListQuerySchema,
  v1ListContactFieldsSchema,
  v1ListContactSchema,
  type V1ConsentedListContact,
  type V1Contact,
  type V1CustomerListQuery,
  type V1ListContact,
  type V1OptIn,
} from "./v1/contact-schema.ts";
export {
  v1AddContactResultSchema,
  v1ContactGroupListQuerySchema,
  type AddContactResult,
  type ContactGroup,
  type V1ContactGroupListQuery,
} from "./v1/contact-group-schema.ts";
export { v1EventFieldsSchema, v1EventSchema, type V1Event } from "./v1/event-schema.ts";
export {
  v1ProfileSchema,
  type Profile,
  type ProfileAttributes,
  type ProfileLinks,
  type ProfileRelationships,
} from "./v1/profile.ts";
export {
  v2ContactFieldsSchema,
  v2ContactSchema,
  v2IdentifierFieldsSchema,
  v2IdentifierSchema,
  type V2Contact,
  type V2Identifier,
  type V2UpsertResult,
} from "./v2/contacts.ts";
export { v2ListPageSchema, v2ListQuerySchema, type List, type V2ListQuery } from "./v2/list-schema.ts";
