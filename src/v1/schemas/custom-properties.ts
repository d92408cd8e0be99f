import { wrongType } from "../../fields/explain.ts";
import type { FreeField, Payload } from "../../fields/field.ts";
import { free } from "../../fields/free.ts";
import { findUnreadable, unreadable } from "../../fields/unreadable.ts";
import { kindOf } from "../../fields/kind-of.ts";
import { refuseLossy } from "../../fields/lossy-kind.ts";
import { LIMITS } from "../../limits.ts";
import { refuseHiddenKeys } from "../../fields/hidden-keys.ts";
import { isObject, isRecord } from "../../is-object.ts";

/** What a custom property can be. The service stores numbers and booleans as text ("Custom property value rules"). */
export type CustomPropertyValue = string | number | boolean;

/** Custom fields of a v1 contact. A key whose value is `undefined` is left out. */
export type CustomProperties = Record<string, CustomPropertyValue | undefined>;

/** Custom fields of a v1 contact: flat, at most 30 keys; blank texts are sent, and dropped by the service. */
/*! @__NO_SIDE_EFFECTS__ */
export function customProperties(): FreeField<CustomProperties> {
  return free(
    (payload) => {
      const { value: input, issues } = payload;
      if (isRecord(input)) payload.value = read(input, payload);
      else issues.push({ code: "invalid_type", expected: "object", input, message: wrongType(rule, input) });
    },
    {
      type: "object",
      additionalProperties: { type: ["string", "number", "boolean"] },
      maxProperties: LIMITS.custom_properties.maxKeys,
    },
  );
}

const rule = "an object of texts, numbers and booleans";

function read(properties: object, payload: Payload): unknown {
  const copy: Record<string, unknown> = {};
  let count = 0;
  try {
    refuseLossy(properties, payload, rule);
    refuseHiddenKeys(properties, payload);
    for (const key of Object.keys(properties)) {
      const value: unknown = Reflect.get(properties, key);
      if (value === undefined) continue;
      count += 1;
      const message = refuseValue(value);
      if (message === undefined) copy[key] = value;
      else payload.issues.push({ code: "invalid_type", expected: "string", path: [key], message });
    }
  } catch {
    payload.issues.push(findUnreadable(properties) ?? unreadable());
  }
  const { maxKeys } = LIMITS.custom_properties;
  if (count > maxKeys) {
    const message = `must have at most ${maxKeys} keys in one request, has ${count}`;
    payload.issues.push({ code: "too_big", origin: "object", maximum: maxKeys, inclusive: true, message });
  }
  return copy;
}

function refuseValue(value: unknown): string | undefined {
  if (typeof value === "string" || typeof value === "boolean" || Number.isFinite(value)) return undefined;
  if (!isObject(value)) return wrongType("a text, a number or a boolean", value);
  return `must be flat, not ${kindOf(value)}, which the service would store as unusable text: use flattenProperties`;
}
