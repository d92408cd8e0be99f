import { parseId } from "../schema/response.ts";
import { openEnvelope, putOn } from "./open-envelope.ts";
import type { ContactGroup } from "./schemas/contact-group.ts";

/**
 * A list or segment, in an envelope or without one; `undefined` without an id. Its other fields are not documented
 * ("v1 list (contact group)") and are passed through.
 */
export function decodeContactGroup(value: unknown): ContactGroup | undefined {
  const opened = openEnvelope(value);
  const id = opened && parseId(opened.resource["id"]);
  if (!opened || id === undefined) return undefined;
  return putOn(opened.beside, { ...opened.resource, id });
}
