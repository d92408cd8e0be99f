import { nameMeant } from "./name-hint.ts";
import { isArray } from "./is-array.ts";
import type { FoundIssue } from "./field.ts";
import { countCharacters } from "./count-characters.ts";
import { kindNamed, kindOf } from "./kind-of.ts";

/**
 * What is wrong, in this package's words: the rule, what came instead, and the way out. Given to each schema as
 * its `error`, so that a `safeParse` of one's own reads the same as a `ValidationError`.
 */
export function explain(issue: FoundIssue): string | undefined {
  switch (issue.code) {
    case "invalid_type":
      return isInput(issue)
        ? wrongInput(kindNamed(issue.expected), issue.input)
        : wrongType(kindNamed(issue.expected), issue.input, isItem(issue));
    case "too_small":
      return outOfBounds("at least", Number(issue.minimum), issue.input);
    case "too_big":
      return outOfBounds("at most", Number(issue.maximum), issue.input);
    case "invalid_value":
      // True: an issue of this kind names them.
      return notAmong(issue.values!, issue.input, isItem(issue));
    /* v8 ignore next -- @preserve each other kind brings its message along */
    default:
      return undefined;
  }
}

/** "required: a text", "must be a text, not a number", or why `null` is not sent. */
export function wrongType(expected: string, input: unknown, isListItem = false): string {
  if (input === undefined && !isListItem) return `required: ${expected}`;
  const way = input === null && !isListItem ? ": leave the field out to send nothing, if it is optional" : "";
  return `must be ${expected}, not ${kindOf(input)}${way}`;
}

function wrongInput(expected: string, input: unknown): string {
  if (input === undefined) return `required: ${expected}`;
  const way = isArray(input) ? ": each is sent alone; for many, see audience.bulk" : "";
  return `must be ${expected}, not ${kindOf(input)}${way}`;
}

/** Whether the issue is about the whole input, not one of its fields. */
function isInput(issue: FoundIssue): boolean {
  return (issue.path ?? []).length === 0;
}

function isItem(issue: FoundIssue): boolean {
  return typeof issue.path?.at(-1) === "number";
}

function outOfBounds(bound: "at least" | "at most", limit: number, input: unknown): string {
  if (typeof input === "string") {
    if (input === "" && limit === 1) return "must not be empty";
    return `must have ${bound} ${count(limit, "character")}, has ${countCharacters(input)}`;
  }
  if (isArray(input)) return `must hold ${bound} ${count(limit, "item")}, holds ${input.length}`;
  return `must be ${bound} ${limit}`;
}

function count(many: number, thing: string): string {
  return many === 1 ? `one ${thing}` : `${many} ${thing}s`;
}

function notAmong(values: readonly unknown[], input: unknown, isListItem: boolean): string {
  const names = values.map(String);
  const choice = `one of ${names.join(", ")}`;
  if (typeof input !== "string") return wrongType(choice, input, isListItem);
  const meant = nameMeant(input, names);
  return meant === undefined ? `must be ${choice}` : `must be ${choice}; case counts, write ${meant}`;
}
