import * as z from "zod";
import { documented } from "../../schema/copy-as-json.ts";

/**
 * The stored attributes of a contact: every field of a `V1Contact`, and `created` and `updated`. Each may be absent or
 * `null`, and no value is checked. Undocumented attributes are passed on.
 */
export interface ProfileAttributes {
  /** The e-mail address. */
  email?: string | null;
  /** The phone number. */
  phone?: string | null;
  /** Your own identifier of the person. */
  external_id?: string | null;
  /** The first name. */
  first_name?: string | null;
  /** The last name. */
  last_name?: string | null;
  /** Consent to e-mail: `SUBSCRIBED`, `NON_SUBSCRIBED` or `UNSUBSCRIBED`. */
  email_opt_in?: string | null;
  /** Consent to SMS and phone messaging, with the same values. */
  phone_opt_in?: string | null;
  /** Whether the contact is suppressed. */
  is_suppressed?: boolean | null;
  /** Whether the contact must confirm by e-mail before it counts as subscribed. */
  double_opt_in?: boolean | null;
  /** Where the contact came from. */
  source?: string | null;
  /** Day of birth, `YYYY-MM-DD`. */
  dob?: string | null;
  /** `MALE`, `FEMALE` or `OTHER`. */
  gender?: string | null;
  /** The country: the service makes a country code of what is sent. */
  country?: string | null;
  /** The state or province. */
  state?: string | null;
  /** The city. */
  city?: string | null;
  /** The first line of the address. */
  address1?: string | null;
  /** The second line of the address. */
  address2?: string | null;
  /** The postal code. */
  postal_code?: string | null;
  /** Custom properties: the service makes a string of each value. */
  custom_properties?: Record<string, string> | null;
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
