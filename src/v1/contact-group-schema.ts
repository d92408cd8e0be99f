import * as z from "zod";
import { documented } from "../schema/response-values.ts";
import { type V1CustomerListQuery, v1CustomerListQuerySchema } from "./contact-schema.ts";

/** A list or a segment. Only its `id` is documented ("v1 list (contact group)"); other fields are passed on. */
export type ContactGroup = {
  /** The id of the list or segment, for `get` and `addContact`. */
  id: string;
  [field: string]: unknown;
};

/** The query of the lists and segments (`GET /api/v1/contact-groups`). */
export type V1ContactGroupListQuery = V1CustomerListQuery & {
  /** Default `ALL`. Case counts. */
  type?: "LIST" | "SEGMENT" | "ALL" | undefined;
};

/** The response to adding a contact to a list. Undocumented keys are kept: a cast to `Record<string, unknown>` reads them. */
export type AddContactResult = {
  /** The service's message about the contact. */
  message?: string | null | undefined;
  /** The contact that was added to the list. */
  contact: {
    email?: string | null | undefined;
    /** The id of the contact, the same as the profile's `id`. */
    contactUUID: string;
    /** `created`, or `updated` if the contact already existed. */
    action: string;
  };
};

/** The query of the lists and segments (`GET /api/v1/contact-groups`). */
export const v1ContactGroupListQuerySchema = v1CustomerListQuerySchema.extend({
  type: z.enum(["LIST", "SEGMENT", "ALL"]).optional(),
}) satisfies z.ZodType<V1ContactGroupListQuery>;

/**
 * The response to adding a contact to a list. It requires `contact.contactUUID` and `contact.action`
 * (`POST /api/v1/contact-groups/{listId}/contacts`).
 */
export const v1AddContactResultSchema = z.looseObject({
  message: documented<string>("string"),
  contact: z.looseObject({
    email: documented<string>("string"),
    contactUUID: z.string(),
    action: z.string(),
  }),
}) satisfies z.ZodType<AddContactResult>;
