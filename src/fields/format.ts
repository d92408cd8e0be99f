import type * as z from "zod";

/** A rule for a text that code has to judge, with the `format` and `pattern` that `z.toJSONSchema` shows for it. */
export interface Format {
  readonly name: string;
  readonly pattern?: RegExp;
  readonly isValid: (text: string) => boolean;
  readonly message: string;
}

/** The rule as a zod check. */
export function format({ name, pattern, isValid, message }: Format): z.core.$ZodCheck<string> {
  return {
    _zod: {
      def: { check: "custom" },
      onattach: [
        (schema) => {
          schema._zod.bag["format"] = name;
          if (pattern !== undefined) schema._zod.bag["patterns"] = new Set([pattern]);
        },
      ],
      check: (payload) => {
        if (isValid(payload.value)) return;
        payload.issues.push({
          code: "invalid_format",
          format: name,
          input: payload.value,
          message,
          continue: true,
        });
      },
    },
  };
}
