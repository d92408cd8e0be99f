import { isRecord } from "../schema/kind-of.ts";
import { parseId, type JsonObject } from "../schema/response.ts";
import { setOwn } from "../set-own.ts";
import { openEnvelope, putOn } from "./open-envelope.ts";
import type { Profile } from "./schemas/profile.ts";

/**
 * A contact, whether it comes as a resource, in an envelope, or as a flat object; `undefined` without an id.
 *
 * How a contact looks in a list is not documented ("Endpoints"), so a flat one has its fields gathered in `attributes`,
 * where the documented envelope has them. No field is dropped.
 */
export function decodeProfile(value: unknown): Profile | undefined {
  const opened = openEnvelope(value);
  const id = opened && parseId(opened.resource["id"]);
  if (!opened || id === undefined) return undefined;
  const { resource, beside } = opened;
  const { type, id: _, ...members } = isRecord(resource["attributes"]) ? resource : gather(resource);
  // True as far as the document is: only the id is checked, the rest is typed as documented.
  return putOn(beside, { type: parseType(type), id, ...members }) as Profile;
}

/** Gathers a flat object's fields in `attributes`; what JSON:API puts beside them stays beside them. */
function gather(flat: JsonObject): JsonObject {
  const members: Record<string, unknown> = {};
  const attributes: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(flat)) {
    if (key === "id" || (key === "attributes" && value === null)) continue;
    const isMember =
      key === "type"
        ? value === resourceType || value === null
        : besideAttributes.has(key) && isObjectOrNull(value);
    setOwn(isMember ? members : attributes, key, value);
  }
  return { ...members, attributes };
}

const resourceType = "profile";
const besideAttributes = new Set(["relationships", "links"]);

function parseType(type: unknown): string {
  return typeof type === "string" && type !== "" ? type : resourceType;
}

function isObjectOrNull(value: unknown): boolean {
  return value === null || isRecord(value);
}
