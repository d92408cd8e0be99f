import type { ChoiceField, Explain, Rule, TextField, YesOrNoField } from "./field.ts";
import { countCharacters } from "./count-characters.ts";
import { requirement } from "./requirement.ts";

/** Any text, the empty one too, that keeps the rules. */
/*! @__NO_SIDE_EFFECTS__ */
export function text(rules: readonly Rule[] = [], explain?: Explain): TextField {
  return { type: "string", rules, explain };
}

/** A text within inclusive bounds, in code points: an emoji is one character. */
/*! @__NO_SIDE_EFFECTS__ */
export function boundedText(bounds: { readonly minLength?: number; readonly maxLength?: number }): TextField {
  const { minLength, maxLength } = bounds;
  const rules: Rule[] = [];
  if (minLength !== undefined) rules.push(atLeast(minLength));
  if (maxLength !== undefined) rules.push(atMost(maxLength));
  return text(rules);
}

function atLeast(minimum: number): Rule {
  const issue = { code: "too_small", origin: "string", minimum, inclusive: true };
  return requirement({ minLength: minimum }, (given: string) => hasAtLeast(given, minimum), issue);
}

function atMost(maximum: number): Rule {
  const issue = { code: "too_big", origin: "string", maximum, inclusive: true };
  return requirement({ maxLength: maximum }, (given: string) => !hasAtLeast(given, maximum + 1), issue);
}

/** A code point is one or two units: only between the count and its double they have to be counted. */
function hasAtLeast(given: string, characters: number): boolean {
  if (given.length < characters) return false;
  return given.length >= 2 * characters || countCharacters(given) >= characters;
}

/** A text that a pattern matches. */
/*! @__NO_SIDE_EFFECTS__ */
export function pattern(expression: RegExp, message: string): Rule {
  return requirement({ pattern: expression.source }, (given: string) => expression.test(given), {
    code: "invalid_format",
    format: "regex",
    pattern: String(expression),
    origin: "string",
    message,
  });
}

/** A text that holds more than white space. */
/*! @__NO_SIDE_EFFECTS__ */
export function filledText(): TextField {
  return text([pattern(/\S/, "must not be empty or blank")]);
}

/** One of the documented values; case counts, and the message says so where only the case is wrong. */
/*! @__NO_SIDE_EFFECTS__ */
export function oneOf<const Choice extends string>(
  values: readonly Choice[],
  explain?: Explain,
): ChoiceField<Choice> {
  return { type: "enum", values, explain };
}

/** `true` or `false`. */
/*! @__NO_SIDE_EFFECTS__ */
export function yesOrNo(): YesOrNoField {
  return { type: "boolean" };
}
