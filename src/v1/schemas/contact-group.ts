import * as z from "zod";
import { documented } from "../../schema/json.ts";
import { pageQuery } from "../../schema/query.ts";

/**
 * A list or a segment, with its `id` and whatever else the service gives: only the `id` is documented
 * ("v1 list (contact group)").
 */
export type ContactGroup = {
  /** What `get` and `addContact` take. */
  id: string;
  [field: string]: unknown;
};

/** Which page of the lists and segments (`GET /api/v1/contact-groups`). */
export type V1ContactGroupListQuery = {
  /** Default `ALL`. Case counts. */
  type?: "LIST" | "SEGMENT" | "ALL" | undefined;
  /** From 1; default 1. */
  page?: number | undefined;
  /** Items per page, from 1; the service's default is 10, and it counts anything over 100 as 100. */
  limit?: number | undefined;
};

/** The answer to adding a contact to a list: which contact it is, and whether it was `created` or `updated`. */
export type AddContactResult = {
  /** The service's own words. */
  message?: string | null | undefined;
  /** The contact that was added. */
  contact: {
    email?: string | null | undefined;
    /** Id of the contact, the same as the profile's `id`. */
    contactUUID: string;
    /** `created`, or `updated` where the contact already existed. */
    action: string;
    [field: string]: unknown;
  };
  [field: string]: unknown;
};

/** Which page of the lists and segments (`GET /api/v1/contact-groups`). */
export const v1ContactGroupListQuerySchema = pageQuery.extend({
  type: z.enum(["LIST", "SEGMENT", "ALL"]).optional(),
}) satisfies z.ZodType<V1ContactGroupListQuery>;

/**
 * The response to adding a contact to a list. Needed: `contact.contactUUID` and `contact.action`
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
