import type { FreeField, JsonSchema, Payload } from "./field.ts";

/** A field that `judge` alone decides about, and what a JSON schema shows for it. */
export function free<Value>(judge: (payload: Payload) => void, shown: JsonSchema): FreeField<Value> {
  return { type: "unknown", rules: [{ judge }], shown };
}
