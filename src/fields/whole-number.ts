import type { NumberField, Rule } from "./field.ts";

const { MAX_SAFE_INTEGER } = Number;

const whole: Rule = {
  shown: { type: "integer", maximum: MAX_SAFE_INTEGER },
  judge: ({ value: input, issues }) => {
    if (!Number.isInteger(input)) {
      issues.push({ code: "invalid_type", expected: "int", format: "safeint", input, continue: false });
    } else if (!Number.isSafeInteger(input)) {
      const origin = "int";
      // True: it is an integer.
      if ((input as number) > 0) issues.push({ ...tooBig, maximum: MAX_SAFE_INTEGER, origin, input });
      else issues.push({ ...tooSmall, minimum: -MAX_SAFE_INTEGER, origin, input });
    }
  },
};

const from1: Rule = {
  shown: { minimum: 1 },
  judge: ({ value: input, issues }) => {
    // True: a rule of a number is asked for numbers alone.
    if ((input as number) < 1) issues.push({ ...tooSmall, minimum: 1, origin: "number", input });
  },
};

const tooBig = { code: "too_big", inclusive: true, continue: true };
const tooSmall = { code: "too_small", inclusive: true, continue: true };

/** A whole number from 1 (`page`, `limit`). No upper bound: the service counts a `limit` over 100 as 100 ("Limits"). */
export function wholeNumberFrom1(): NumberField {
  return { type: "number", rules: [whole, from1] };
}
