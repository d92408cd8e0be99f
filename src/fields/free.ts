import type { FreeField, JsonSchema, Payload } from "./field.ts";

/** A field that `judge` alone decides about, and what a JSON schema shows for it. */
/*! @__NO_SIDE_EFFECTS__ */
export function free<Value>(judge: (payload: Payload) => void, shown: JsonSchema): FreeField<Value> {
  return { type: "unknown", rules: [{ judge }], shown };
}
