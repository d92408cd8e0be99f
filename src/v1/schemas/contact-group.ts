import * as z from "zod";

import { documentedText } from "../../fields/documented.ts";
import { strictFields } from "../../fields/field-object.ts";
import { optionOfTheCall } from "../../fields/query-hint.ts";
import { oneOf } from "../../fields/text.ts";
import { wholeNumberFrom1 } from "../../fields/whole-number.ts";

/** A list or a segment. Only its `id` is documented; what else comes is passed through ("v1 list (contact group)"). */
export const v1ContactGroupSchema = z.looseObject({
  id: z.string(),
});

/** A list or a segment, with its `id` and whatever else the service gives. */
export type ContactGroup = z.infer<typeof v1ContactGroupSchema>;

/** Which page of the lists and segments (`GET /api/v1/contact-groups`). */
export const v1ContactGroupListQuerySchema = strictFields(
  {
    /** Default `ALL`. Case counts. */
    type: oneOf(["LIST", "SEGMENT", "ALL"]).optional(),
    /** From 1; default 1. */
    page: wholeNumberFrom1().optional(),
    /** Items per page, from 1; the service's default is 10, and it counts anything over 100 as 100. */
    limit: wholeNumberFrom1().optional(),
  },
  optionOfTheCall,
);

/** Which page of the lists and segments (`GET /api/v1/contact-groups`). */
export type V1ContactGroupListQuery = z.infer<typeof v1ContactGroupListQuerySchema>;

/**
 * The answer to adding a contact to a list. Needed: `contact.contactUUID` and `contact.action`
 * (`POST /api/v1/contact-groups/{listId}/contacts`).
 */
export const v1AddContactResultSchema = z.looseObject({
  message: documentedText(),
  contact: z.looseObject({
    email: documentedText(),
    /** Id of the contact, the same as the profile's `id`. */
    contactUUID: z.string(),
    /** `created`, or `updated` where the contact already existed. */
    action: z.string(),
  }),
});

/** The answer to adding a contact to a list: which contact it is, and whether it was `created` or `updated`. */
export type AddContactResult = z.infer<typeof v1AddContactResultSchema>;
