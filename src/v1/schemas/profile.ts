import * as z from "zod";
import { documented } from "../../schema/response-values.ts";
import type { V1Contact, V1OptIn } from "./contact.ts";

interface StoredFields extends Omit<
  V1Contact,
  "email_opt_in" | "phone_opt_in" | "gender" | "custom_properties"
> {
  /** Consent to e-mail. Typed as documented: at run time the service's word stands here, whatever it is. */
  email_opt_in?: V1OptIn | undefined;
  /** Consent to SMS and phone messaging, typed as documented too. */
  phone_opt_in?: V1OptIn | undefined;
  /** `MALE`, `FEMALE` or `OTHER`. */
  gender?: string | undefined;
  /** The service stores each value as a string. */
  custom_properties?: Record<string, string> | undefined;
  /** ISO 8601 timestamp of the contact's creation. */
  created?: string | undefined;
  /** ISO 8601 timestamp of the contact's last change. */
  updated?: string | undefined;
}

/**
 * The stored attributes of a contact: every field of a `V1Contact`, and `created` and `updated`. Each may be absent or
 * `null`, and no value is checked. Undocumented attributes are kept: `attributes as Record<string, unknown>` reads them.
 */
export type ProfileAttributes = { [Field in keyof StoredFields]: StoredFields[Field] | null };

/** The relationships of a contact; `lists.links.related` is the link to its lists. */
export type ProfileRelationships = {
  /** The link to the contact's lists. */
  lists?: { links?: { related?: string | null | undefined } | null | undefined } | null | undefined;
};

/** Links of a contact. */
export type ProfileLinks = {
  /** The URL of the contact. */
  self?: string | null | undefined;
};

/**
 * A contact of the v1 family: the JSON:API resource, with the links of its envelope.
 *
 * Only `id` is checked; the other keys are typed as documented. Undocumented keys are kept: `profile as Record<string,
 * unknown>` reads them.
 */
export type Profile = {
  /** `profile`. */
  type: string;
  /** The stable id of the contact; an event takes it as `contactUUID`. */
  id: string;
  /** The stored attributes of the contact. */
  attributes: ProfileAttributes;
  /** The relationships of the contact. */
  relationships?: ProfileRelationships | null | undefined;
  /** The links of the profile's envelope. */
  links?: ProfileLinks | null | undefined;
};

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
