import type * as z from "zod";

/** What is said where reading the input threw. Not what was thrown: that is the input's own, and may hold anything. */
export const unreadableRule = "cannot be read: reading it threw an error";

/**
 * An issue at the first key of `input` whose reading throws, or at `input` itself where not even its keys can be read;
 * nothing where all of it can be read.
 */
export function findUnreadable(input: unknown): z.core.$ZodRawIssue | undefined {
  if (typeof input !== "object" || input === null) return undefined;
  let at: string | undefined;
  try {
    Object.getOwnPropertySymbols(input);
    Object.prototype.toString.call(input);
    for (at in input) Reflect.get(input, at);
    return undefined;
  } catch {
    const path = at === undefined ? [] : [Array.isArray(input) ? Number(at) : at];
    // `continue: false` keeps rules over several fields from reading it again.
    return { code: "custom", input: undefined, path, message: unreadableRule, continue: false };
  }
}
