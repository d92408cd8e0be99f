import * as z from "zod";
import { documented, parseId, type JsonObject } from "../schema/response-values.ts";
import { isRecord, withoutPrototype } from "../values/predicates.ts";
import type { V1Contact, V1OptIn } from "./contact-schema.ts";

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

/**
 * Decodes a contact: a resource, an envelope around one, or a flat object; `undefined` without an id.
 *
 * The shape of a contact in a list is not documented ("Endpoints"). The keys of a flat contact move to `attributes`,
 * where the documented envelope has them. No key is dropped.
 */
export function decodeProfile(value: unknown): Profile | undefined {
  // Safe: only the id is checked; the other keys are typed as documented.
  return openEnvelope(value, ({ id, ...resource }) => {
    const { type, ...members } = isRecord(resource["attributes"]) ? resource : gatherAttributes(resource);
    return { type: typeof type === "string" && type !== "" ? type : resourceType, id, ...members };
  }) as Profile | undefined;
}

/** Moves the keys of a flat contact to `attributes`, except those that JSON:API puts beside the attributes. */
function gatherAttributes(contact: JsonObject): JsonObject {
  const entries = Object.entries(contact).filter(([key, value]) => key !== "attributes" || !isEmpty(value));
  const attributes = Object.fromEntries(entries.filter((entry) => !isResourceMember(entry)));
  return { ...Object.fromEntries(entries.filter(isResourceMember)), attributes };
}

function isResourceMember([key, value]: [string, unknown]): boolean {
  if (key === "type") return value === resourceType || value === null;
  return (key === "relationships" || key === "links") && (isEmpty(value) || isRecord(value));
}

const resourceType = "profile";

/**
 * Opens an envelope `{ data, links }` ("v1 contact (profile) response envelope"); `undefined` without an id. An object
 * without an envelope is the resource itself. `data.id` is documented, so it wins over an id of the outer object. Where only
 * the outer object has an id, `data` is an ordinary key. The other keys of the envelope are added to the decoded resource,
 * whose own values win; of the links of both the documented ones of the envelope win.
 */
export function openEnvelope<Resource extends JsonObject>(
  value: unknown,
  decode: (resource: JsonObject & { readonly id: string }) => Resource,
): (JsonObject & Resource) | undefined {
  if (!isRecord(value)) return undefined;
  const { data, ...siblings } = withoutPrototype(value);
  const isEnvelope = isRecord(data) && ("id" in data || parseId(value["id"]) === undefined);
  const given = isEnvelope ? data : value;
  const id = parseId(given["id"]);
  if (id === undefined) return undefined;
  const resource = decode({ ...given, id });
  if (!isEnvelope) return resource;
  const [outerLinks, ownLinks] = [siblings["links"], resource["links"]];
  const merged = { ...siblings, ...resource };
  return isRecord(outerLinks) && (isRecord(ownLinks) || isEmpty(ownLinks))
    ? { ...merged, links: { ...ownLinks, ...outerLinks } }
    : merged;
}

/** PHP writes an empty object as an empty array. */
function isEmpty(value: unknown): value is null | [] {
  return value === null || (Array.isArray(value) && value.length === 0);
}
