import * as z from "zod";
import { documented } from "../../schema/json.ts";

/** The stored attributes of a contact. Undocumented attributes are passed on. */
export interface ProfileAttributes {
  /** The e-mail address. */
  email?: string | null;
  /** The phone number. */
  phone?: string | null;
  /** The first name. */
  first_name?: string | null;
  /** Consent to e-mail, such as `SUBSCRIBED`. */
  email_opt_in?: string | null;
  /** Where the contact came from. */
  source?: string | null;
  /** ISO 8601 timestamp. */
  created?: string | null;
  /** ISO 8601 timestamp. */
  updated?: string | null;
  [attribute: string]: unknown;
}

/** The relationships of a contact; `lists.links.related` is the link to its lists. */
export interface ProfileRelationships {
  /** The link to the contact's lists. */
  lists?: { links?: { related?: string | null } | null } | null;
  [relationship: string]: unknown;
}

/** Links of a contact. */
export interface ProfileLinks {
  /** The URL of the contact. */
  self?: string | null;
  [link: string]: unknown;
}

/**
 * A contact of the v1 family: the JSON:API resource, with the links of its envelope.
 *
 * Only `id` is checked; the other keys are typed as documented.
 */
export interface Profile {
  /** `profile`. */
  type: string;
  /** The stable id of the contact; an event takes it as `contactUUID`. */
  id: string;
  /** The stored attributes. */
  attributes: ProfileAttributes;
  /** The relationships. */
  relationships?: ProfileRelationships | null;
  /** The envelope's links. */
  links?: ProfileLinks | null;
  [member: string]: unknown;
}

/**
 * The response to a v1 contact request ("v1 contact (profile) response envelope"). Only `data.id` is required; other
 * keys may be absent or `null`, and undocumented keys are kept.
 */
export const v1ProfileSchema = z.looseObject({
  data: z.looseObject({
    type: documented<string>("string"),
    id: z.string(),
    attributes: documented<ProfileAttributes>("object"),
    relationships: documented<ProfileRelationships>("object"),
  }),
  links: documented<ProfileLinks>("object"),
});
