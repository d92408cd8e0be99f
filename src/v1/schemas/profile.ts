import * as z from "zod";
import { documented } from "../../schema/json.ts";

/** What the service stores of a contact. Only these are documented; any other comes as it is. */
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

/** What a contact is related to; `lists.links.related` leads to its lists. */
export interface ProfileRelationships {
  /** The contact's lists, by a link. */
  lists?: { links?: { related?: string | null } | null } | null;
  [relationship: string]: unknown;
}

/** Links of a contact. */
export interface ProfileLinks {
  /** The contact's own address. */
  self?: string | null;
  [link: string]: unknown;
}

/**
 * A contact as the v1 family gives it: the JSON:API resource, with the envelope's links on it.
 *
 * Only `id` is sure to be there; the attributes are typed as documented, not checked.
 */
export interface Profile {
  /** `profile`. */
  type: string;
  /** Stable identifier of the contact; as `contactUUID` it names the contact of an event. */
  id: string;
  /** What is stored of the contact. */
  attributes: ProfileAttributes;
  /** What the contact is related to. */
  relationships?: ProfileRelationships | null;
  /** The envelope's links. */
  links?: ProfileLinks | null;
  [member: string]: unknown;
}

/**
 * The response to a v1 contact request ("v1 contact (profile) response envelope"). Only `data.id` is needed; all else
 * may be absent or `null`, and what is not documented is kept.
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
