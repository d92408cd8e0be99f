import type { JsonSchema, Rule } from "./field.ts";

/** A rule for a text that code has to judge. */
export interface Format {
  readonly name: string;
  /** What a JSON schema shows, where it is more than the format's name. */
  readonly shown?: JsonSchema;
  readonly isValid: (text: string) => boolean;
  readonly message: string;
}

export function format({ name, shown, isValid, message }: Format): Rule {
  return {
    shown: shown ?? { format: name },
    judge: ({ value: input, issues }) => {
      // True: a rule of a text is asked for texts alone.
      if (isValid(input as string)) return;
      issues.push({ code: "invalid_format", format: name, input, message, continue: true });
    },
  };
}
