import * as z from "zod";

/**
 * A key of a response that nothing here depends on: typed as documented, and never a reason to refuse the response, as a
 * write that succeeded must not fail over a value that nobody asked for (D30).
 */
export function documented<Value>(type: "string" | "number" | "boolean" | "object") {
  const schema = z.unknown().meta({ anyOf: [{ type }, { type: "null" }] });
  // Safe: the type is the document's word, as the one that is written out says.
  return (schema as unknown as z.ZodType<Value | null, Value | null>).optional();
}
