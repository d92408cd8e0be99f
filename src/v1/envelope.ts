import { parseId, type JsonObject } from "../schema/response-values.ts";
import { isRecord } from "../values/predicates.ts";
import type { ContactGroup } from "./schemas/contact-group.ts";
import type { Profile } from "./schemas/profile.ts";

/**
 * Decodes a contact: a resource, an envelope around one, or a flat object; `undefined` without an id.
 *
 * The shape of a contact in a list is not documented ("Endpoints"). The keys of a flat contact move to `attributes`,
 * where the documented envelope has them. No key is dropped.
 */
export function decodeProfile(value: unknown): Profile | undefined {
  const envelope = openEnvelope(value);
  if (!envelope) return undefined;
  const { id, resource, siblings } = envelope;
  const { type: givenType, ...members } = isRecord(resource["attributes"])
    ? resource
    : gatherAttributes(resource);
  const type = typeof givenType === "string" && givenType !== "" ? givenType : resourceType;
  // Safe: only the id is checked; the other keys are typed as documented.
  return withSiblings(siblings, { type, id, ...members }) as Profile;
}

/**
 * Decodes a list or segment, with or without an envelope; `undefined` without an id. Its other keys are not documented
 * ("v1 list (contact group)") and stay as they are.
 */
export function decodeContactGroup(value: unknown): ContactGroup | undefined {
  const envelope = openEnvelope(value);
  return envelope && withSiblings(envelope.siblings, { id: envelope.id, ...envelope.resource });
}

/**
 * Opens an envelope `{ data, links }` ("v1 contact (profile) response envelope"). An object without an envelope is the
 * resource itself. `data.id` is documented, so it wins over an id of the outer object. Where only the outer object has
 * an id, `data` is an ordinary key. `siblings` are the keys beside the resource in its envelope.
 */
function openEnvelope(value: unknown) {
  if (!isRecord(value)) return undefined;
  const { data, ...siblings } = value;
  const isEnvelope = isRecord(data) && ("id" in data || parseId(value["id"]) === undefined);
  const { id: givenId, ...resource } = isEnvelope ? data : value;
  const id = parseId(givenId);
  return id === undefined ? undefined : { id, resource, siblings: isEnvelope ? siblings : {} };
}

/** Adds the envelope's keys to a resource, and merges the links. The resource's own values win, and of the links the envelope's, which are documented. */
function withSiblings<Resource extends JsonObject>(
  siblings: JsonObject,
  resource: Resource,
): JsonObject & Resource {
  const merged = { ...siblings, ...resource };
  const [outerLinks, ownLinks] = [siblings["links"], resource["links"]];
  return isRecord(outerLinks) && (isRecord(ownLinks) || isEmpty(ownLinks))
    ? { ...merged, links: { ...ownLinks, ...outerLinks } }
    : merged;
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

/** PHP writes an empty object as an empty array. */
function isEmpty(value: unknown): value is null | [] {
  return value === null || (Array.isArray(value) && value.length === 0);
}

const resourceType = "profile";
