import * as z from "zod";

import { shownAs } from "./json-schema.ts";

/**
 * A field of an answer that nothing here depends on. Its type is the document's word; no value of it refuses the
 * answer, because a write that succeeded must not fail over a field that nobody asked for.
 */
export function documented<Value>(
  shown: z.core.JSONSchema.BaseSchema,
): z.ZodOptional<z.ZodType<Value | null, Value | null>> {
  // True as far as the document is: see above.
  const schema = shownAs(z.unknown(), {
    anyOf: [shown, { type: "null" }],
  }) as unknown as z.ZodType<Value | null, Value | null>;
  return schema.optional();
}

/** A text, as documented. */
export function documentedText(): z.ZodOptional<z.ZodType<string | null, string | null>> {
  return documented<string>({ type: "string" });
}

/** A number, as documented. */
export function documentedNumber(): z.ZodOptional<z.ZodType<number | null, number | null>> {
  return documented<number>({ type: "number" });
}
