import type { Field, FoundIssue, ListField } from "./field.ts";
import { requirement } from "./requirement.ts";

/** An array of one kind of item. */
/*! @__NO_SIDE_EFFECTS__ */
export function listOf<Item extends Field>(item: Item): ListField<Item> {
  return { type: "array", item };
}

/** An array with at least one item. */
/*! @__NO_SIDE_EFFECTS__ */
export function filledListOf<Item extends Field>(item: Item): ListField<Item> {
  const filled = requirement({ minItems: 1 }, (items: unknown[]) => items.length > 0, {
    code: "too_small",
    origin: "array",
    minimum: 1,
    inclusive: true,
  });
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
