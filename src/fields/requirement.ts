import type { FoundIssue, JsonSchema, Rule } from "./field.ts";

/** A rule that a value keeps, or breaks with always the same issue. The rules that come later are still judged. */
/*! @__NO_SIDE_EFFECTS__ */
export function requirement<Value>(
  shown: JsonSchema,
  keeps: (value: Value) => boolean,
  issue: FoundIssue,
): Rule {
  return {
    shown,
    judge: ({ value: input, issues }) => {
      // True: a rule is asked for values of its field's type alone.
      if (!keeps(input as Value)) issues.push({ ...issue, input, continue: true });
    },
  };
}
