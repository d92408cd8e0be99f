import { requirement } from "./requirement.ts";
import type { NumberField, Rule } from "./field.ts";

// `Number.MAX_SAFE_INTEGER`; that, a bundler would not leave out.
const largest = 2 ** 53 - 1;

const whole: Rule = {
  shown: { type: "integer", maximum: largest },
  judge: ({ value: input, issues }) => {
    if (Number.isSafeInteger(input)) return;
    if (Number.isInteger(input)) {
      // True: it is an integer.
      const bound =
        (input as number) > 0
          ? { code: "too_big", maximum: largest }
          : { code: "too_small", minimum: -largest };
      issues.push({ ...bound, origin: "int", inclusive: true, input, continue: true });
      return;
    }
    const message = `must be a whole number, not ${String(input)}`;
    issues.push({
      code: "invalid_type",
      expected: "int",
      format: "safeint",
      input,
      message,
      continue: false,
    });
  },
};

const from1 = requirement({ minimum: 1 }, (given: number) => given >= 1, {
  code: "too_small",
  minimum: 1,
  origin: "number",
  inclusive: true,
});

/** A whole number from 1 (`page`, `limit`). No upper bound: the service counts a `limit` over 100 as 100 ("Limits"). */
/*! @__NO_SIDE_EFFECTS__ */
export function wholeNumberFrom1(): NumberField {
  return { type: "number", rules: [whole, from1] };
}
