import type { Field, FoundIssue, ListField, Rule } from "./field.ts";
import { isArray } from "./is-array.ts";
import { requirement } from "./requirement.ts";

/** An array of one kind of item. */
export function listOf<Item extends Field>(item: Item): ListField<Item> {
  return { type: "array", item };
}

const filled: Rule = {
  ...requirement({ minItems: 1 }, (items: unknown[]) => items.length > 0, {
    code: "too_small",
    origin: "array",
    minimum: 1,
    inclusive: true,
  }),
  when: ({ value }) => isArray(value),
};

/** An array with at least one item. */
export function filledListOf<Item extends Field>(item: Item): ListField<Item> {
  return { ...listOf(item), rules: [filled] };
}

/**
 * An array with so many holes that walking through them would take long (`new Array(4e9)`: minutes). In a short one a
 * hole is an issue of its own, as any other item that is not what it should be.
 */
export function findHoles(input: readonly unknown[]): FoundIssue | undefined {
  if (input.length <= shortLength) return undefined;
  const count = Object.keys(input).length;
  if (count >= input.length) return undefined;
  const message = `has holes: ${count} of its ${input.length} items are there`;
  return { code: "custom", message, continue: false };
}

const shortLength = 1_000;
