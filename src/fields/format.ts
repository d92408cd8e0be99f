import { requirement } from "./requirement.ts";
import type { JsonSchema, Rule } from "./field.ts";

/** A rule for a text that code has to judge. */
export interface Format {
  readonly name: string;
  /** What a JSON schema shows. */
  readonly shown: JsonSchema;
  readonly isValid: (text: string) => boolean;
  readonly message: string;
}

/*! @__NO_SIDE_EFFECTS__ */
export function format({ name, shown, isValid, message }: Format): Rule {
  return requirement(shown, isValid, { code: "invalid_format", format: name, message });
}
