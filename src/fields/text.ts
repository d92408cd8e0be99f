import * as z from "zod";
// By its own entry: reached through `z.core`, a bundler keeps all of it, 50 languages included.
import * as core from "zod/v4/core";

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
  const { minLength, maxLength } = bounds;
  const checks: z.core.$ZodCheck<string>[] = [];
  if (minLength !== undefined) {
    checks.push(new core.$ZodCheckMinLength({ check: "min_length", minimum: minLength, when: isText }));
  }
  if (maxLength !== undefined) {
    checks.push(new core.$ZodCheckMaxLength({ check: "max_length", maximum: maxLength, when: isText }));
  }
  return text().check(...checks);
}

// Without it zod measures an array too, so that one wrong type would be two issues.
function isText(payload: z.core.ParsePayload): boolean {
  return typeof payload.value === "string";
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
