import { countCharacters } from "./count-characters.ts";
import type { ChoiceField, Explain, Rule, TextField, YesOrNoField } from "./field.ts";

/** Any text, the empty one too, that keeps the rules. */
export function text(rules: readonly Rule[] = [], explain?: Explain): TextField {
  return { type: "string", rules, explain };
}

/** A text within inclusive bounds, in code points: an emoji is one character. */
export function boundedText(bounds: { readonly minLength?: number; readonly maxLength?: number }): TextField {
  const { minLength, maxLength } = bounds;
  const rules: Rule[] = [];
  if (minLength !== undefined) rules.push(atLeast(minLength));
  if (maxLength !== undefined) rules.push(atMost(maxLength));
  return text(rules);
}

function atLeast(minimum: number): Rule {
  return {
    shown: { minLength: minimum },
    judge: ({ value: input, issues }) => {
      // True: a rule of a text is asked for texts alone.
      if (hasAtLeast(input as string, minimum)) return;
      issues.push({ code: "too_small", origin: "string", minimum, inclusive: true, input, continue: true });
    },
  };
}

function atMost(maximum: number): Rule {
  return {
    shown: { maxLength: maximum },
    judge: ({ value: input, issues }) => {
      // True: a rule of a text is asked for texts alone.
      if (!hasAtLeast(input as string, maximum + 1)) return;
      issues.push({ code: "too_big", origin: "string", maximum, inclusive: true, input, continue: true });
    },
  };
}

/** A code point is one or two units: only between the count and its double they have to be counted. */
function hasAtLeast(given: string, characters: number): boolean {
  if (given.length < characters) return false;
  return given.length >= 2 * characters || countCharacters(given) >= characters;
}

/** A text that a pattern matches. */
export function pattern(expression: RegExp, message: string): Rule {
  return {
    shown: { pattern: expression.source },
    judge: ({ value: input, issues }) => {
      // True: a rule of a text is asked for texts alone.
      if (expression.test(input as string)) return;
      const found = { code: "invalid_format", format: "regex", pattern: String(expression) };
      issues.push({ ...found, origin: "string", input, message, continue: true });
    },
  };
}

/** A text that holds more than white space. */
export function filledText(): TextField {
  return text([pattern(/\S/, "must not be empty or blank")]);
}

/** One of the documented values; case counts, and the message says so where only the case is wrong. */
export function oneOf<const Choice extends string>(
  values: readonly Choice[],
  explain?: Explain,
): ChoiceField<Choice> {
  return { type: "enum", values, explain };
}

/** `true` or `false`. */
export function yesOrNo(): YesOrNoField {
  return { type: "boolean" };
}
