import type { Rule } from "./field.ts";

/** A rule for a text that code has to judge, with the `format` and `pattern` that a JSON schema shows for it. */
export interface Format {
  readonly name: string;
  readonly pattern?: RegExp;
  readonly isValid: (text: string) => boolean;
  readonly message: string;
}

export function format({ name, pattern, isValid, message }: Format): Rule {
  return {
    def: { check: "custom" },
    shown: { format: name, ...(pattern && { pattern }) },
    judge: ({ value: input, issues }) => {
      // True: a rule of a text is asked for texts alone.
      if (isValid(input as string)) return;
      issues.push({ code: "invalid_format", format: name, input, message, continue: true });
    },
  };
}
