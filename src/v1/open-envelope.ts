import { isRecord } from "../schema/kind-of.ts";
import { parseId, type JsonObject } from "../schema/response.ts";

/** A resource, and what stood around it in its envelope. */
export interface Opened {
  readonly resource: JsonObject;
  readonly beside: JsonObject;
}

/**
 * Opens an envelope `{ data, links }` ("v1 contact (profile) response envelope"); an object without one is the
 * resource itself, with nothing beside it. Of two ids the documented one counts, `data.id`; where only the object has
 * one, its `data` is a field.
 */
export function openEnvelope(value: unknown): Opened | undefined {
  if (!isRecord(value)) return undefined;
  const { data, ...beside } = value;
  const isEnvelope = isRecord(data) && ("id" in data || parseId(value["id"]) === undefined);
  return isEnvelope ? { resource: data, beside } : { resource: value, beside: {} };
}

/** Puts what stood around a resource on it, links among links; of two values under one name the resource's own stays. */
export function putOn<Resource extends JsonObject>(
  beside: JsonObject,
  resource: Resource,
): JsonObject & Resource {
  const together = { ...beside, ...resource };
  const [around, own] = [beside["links"], resource["links"]];
  return isRecord(around) && (isRecord(own) || own === null)
    ? { ...together, links: { ...around, ...own } }
    : together;
}
