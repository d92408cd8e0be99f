import * as z from "zod";
// By its own entry: reached through `z.core`, a bundler keeps all of it, 50 languages included.
import * as core from "zod/v4/core";

import { explain } from "./explain.ts";
import { findUnreadable } from "./unreadable.ts";

/** An array of one kind of item. */
export function listOf<Item extends z.ZodType>(item: Item): z.ZodArray<Item> {
  // True: the element is that of the definition.
  return new FieldList({ type: "array", element: item, error: explain }) as unknown as z.ZodArray<Item>;
}

/** An array with at least one item. */
export function filledListOf<Item extends z.ZodType>(item: Item): z.ZodArray<Item> {
  return listOf(item).check(new core.$ZodCheckMinLength({ check: "min_length", minimum: 1, when: isArray }));
}

// Without it zod measures a text too, so that one wrong type would be two issues.
function isArray(payload: z.core.ParsePayload): boolean {
  return Array.isArray(payload.value);
}

// An assertion signature has to be written down to be called; the assertion itself is not needed here.
const initZodArray: (schema: z.ZodArray, def: z.core.$ZodArrayDef) => void = z.ZodArray.init;

/**
 * A zod array that does not walk through holes (`new Array(4e9)` would take it minutes), and that reports an item
 * whose reading throws instead of letting it escape.
 */
const FieldList = core.$constructor<z.ZodArray, z.core.$ZodArrayDef>("AudienceFieldList", (schema, def) => {
  initZodArray(schema, def);
  const parse = schema._zod.parse;
  schema._zod.parse = (payload, context) => {
    const input: unknown = payload.value;
    try {
      if (!Array.isArray(input) || input.length <= shortLength || Object.keys(input).length >= input.length) {
        return parse(payload, context);
      }
      const message = `has holes: ${Object.keys(input).length} of its ${input.length} items are there`;
      payload.issues.push({ code: "custom", input: undefined, inst: schema, message, continue: false });
    } catch (error) {
      const issue = findUnreadable(input);
      // Not the input's doing: an error thrown by a check that somebody added.
      if (issue === undefined) throw error;
      payload.issues.push(issue);
    }
    return payload;
  };
});

// Up to here a hole is an issue of its own, as any other item that is not what it should be.
const shortLength = 1_000;
