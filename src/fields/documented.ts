import { optional, type FreeField, type JsonSchema, type OptionalField } from "./field.ts";

/**
 * A field of an answer that nothing here depends on. Its type is the document's word; no value of it refuses the
 * answer, because a write that succeeded must not fail over a field that nobody asked for.
 */
/*! @__NO_SIDE_EFFECTS__ */
export function documented<Value>(shown: JsonSchema): OptionalField<FreeField<Value | null>> {
  return optional({ type: "unknown", shown: { anyOf: [shown, { type: "null" }] } });
}

/** A text, as documented. */
/*! @__NO_SIDE_EFFECTS__ */
export function documentedText(): OptionalField<FreeField<string | null>> {
  return documented<string>({ type: "string" });
}

/** A number, as documented. */
/*! @__NO_SIDE_EFFECTS__ */
export function documentedNumber(): OptionalField<FreeField<number | null>> {
  return documented<number>({ type: "number" });
}
