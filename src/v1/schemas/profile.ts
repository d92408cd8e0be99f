import * as z from "zod";
import { documented } from "../../schema/parse-response.ts";
import type { V1Contact } from "./contact.ts";

/** A stored value: any string for a state; of the custom properties the service makes strings. */
type Stored<Value> = Value extends string ? string : Value extends object ? Record<string, string> : Value;

type StoredFields = { [Field in keyof V1Contact]?: Stored<NonNullable<V1Contact[Field]>> | null };

/**
 * The stored attributes of a contact: every field of a `V1Contact`, and `created` and `updated`. Each may be absent or
 * `null`, and no value is checked. Undocumented attributes are passed on.
 */
export interface ProfileAttributes extends StoredFields {
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
