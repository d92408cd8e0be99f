import * as z from "zod";

import { explain } from "./explain.ts";

/** Any text, the empty one too. */
export function text(error: z.core.$ZodErrorMap = explain): z.ZodString {
  return z.string({ error });
}

/** A text within inclusive bounds, in code points: an emoji is one character. zod 4.6 counts so itself. */
export function boundedText(bounds: {
  readonly minLength?: number;
  readonly maxLength?: number;
}): z.ZodString {
  let schema = text();
  if (bounds.minLength !== undefined) schema = schema.min(bounds.minLength);
  if (bounds.maxLength !== undefined) schema = schema.max(bounds.maxLength);
  return schema;
}

/** A text that holds more than white space. */
export function filledText(): z.ZodString {
  return text().regex(/\S/, { error: "must not be empty or blank" });
}

/** One of the documented values; case counts, and the message says so where only the case is wrong. */
export function oneOf<const Values extends readonly [string, ...string[]]>(
  values: Values,
  error: z.core.$ZodErrorMap = explain,
) {
  return z.enum(values, { error });
}

/** `true` or `false`. */
export function yesOrNo(): z.ZodBoolean {
  return z.boolean({ error: explain });
}
