import { isRecord } from "../schema/kind-of.ts";
import { parseId, setOwn, type JsonObject } from "../schema/parse-response.ts";
import type { ContactGroup } from "./schemas/contact-group.ts";
import type { Profile } from "./schemas/profile.ts";

/**
 * Decodes a contact: a resource, an envelope around one, or a flat object; `undefined` without an id.
 *
 * The shape of a contact in a list is not documented ("Endpoints"). The keys of a flat contact move to `attributes`,
 * where the documented envelope has them. No key is dropped.
 */
export function decodeProfile(value: unknown): Profile | undefined {
  const opened = openEnvelope(value);
  const id = opened && parseId(opened.resource["id"]);
  if (!opened || id === undefined) return undefined;
  const { resource, siblings } = opened;
  const {
    type,
    id: _,
    ...members
  } = isRecord(resource["attributes"]) ? resource : gatherAttributes(resource);
  // Safe: only the id is checked; the other keys are typed as documented.
  return withSiblings(siblings, {
    type: typeof type === "string" && type !== "" ? type : resourceType,
    id,
    ...members,
  }) as Profile;
}

/**
 * Decodes a list or segment, with or without an envelope; `undefined` without an id. Its other keys are not documented
 * ("v1 list (contact group)") and stay as they are.
 */
export function decodeContactGroup(value: unknown): ContactGroup | undefined {
  const opened = openEnvelope(value);
  const id = opened && parseId(opened.resource["id"]);
  if (!opened || id === undefined) return undefined;
  return withSiblings(opened.siblings, { ...opened.resource, id });
}

/** A resource, and the keys beside it in its envelope. */
interface OpenedEnvelope {
  readonly resource: JsonObject;
  readonly siblings: JsonObject;
}

/**
 * Opens an envelope `{ data, links }` ("v1 contact (profile) response envelope"). An object without an envelope is the
 * resource itself. `data.id` is documented, so it wins over an id of the outer object. Where only the outer object has
 * an id, `data` is an ordinary key.
 */
function openEnvelope(value: unknown): OpenedEnvelope | undefined {
  if (!isRecord(value)) return undefined;
  const { data, ...siblings } = value;
  const isEnvelope = isRecord(data) && ("id" in data || parseId(value["id"]) === undefined);
  return isEnvelope ? { resource: data, siblings } : { resource: value, siblings: {} };
}

/** Adds the envelope's keys to a resource, and merges the links. The resource's own values win. */
function withSiblings<Resource extends JsonObject>(
  siblings: JsonObject,
  resource: Resource,
): JsonObject & Resource {
  const merged = { ...siblings, ...resource };
  const [outer, own] = [siblings["links"], resource["links"]];
  return isRecord(outer) && (isRecord(own) || own === null)
    ? { ...merged, links: { ...outer, ...own } }
    : merged;
}

/** Moves the keys of a flat object to `attributes`, except those that JSON:API puts beside the attributes. */
function gatherAttributes(flat: JsonObject): JsonObject {
  const members: Record<string, unknown> = {};
  const attributes: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(flat)) {
    if (key === "id" || (key === "attributes" && value === null)) continue;
    const isMember =
      key === "type"
        ? value === resourceType || value === null
        : siblingKeys.has(key) && (value === null || isRecord(value));
    setOwn(isMember ? members : attributes, key, value);
  }
  return { ...members, attributes };
}

const resourceType = "profile";
const siblingKeys = new Set(["relationships", "links"]);
