import * as z from "zod";
import type { ValidationIssue } from "./errors.ts";
import { copyAsJson } from "./schema/copy-as-json.ts";
import { isObject } from "./schema/kind-of.ts";
import { explain, propertyOf, toIssues, withNameMeant } from "./schema/validation-issues.ts";

/**
 * Returns the input as JSON would send it. What the schema refuses, and what JSON would lose, is added to `issues`. The
 * input is unchanged.
 */
export function validate<Value>(schema: z.ZodType<Value>, input: unknown, issues: ValidationIssue[]): Value {
  const { copy, lost } = isObject(input) ? copyAsJson(input) : { copy: input, lost: [] };
  const isUnreadable = copy === undefined && lost.length > 0;
  const { error } = isUnreadable ? {} : schema.safeParse(copy, { error: explain });
  /* v8 ignore next -- @preserve every input is an object: the type of a schema does not say so. */
  const names = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  const found = error
    ? toIssues(error).map((issue) => withWayOut(withNameMeant(issue, copy, names), copy))
    : [];
  // One by one: a spread of a hundred thousand would overflow the stack.
  for (const issue of merged(found, lost)) issues.push(issue);
  // Safe: the caller uses it if there are no issues, and the schemas have no transforms. The copy, because zod's output has
  // another order of keys.
  return copy as Value;
}

function withWayOut(issue: ValidationIssue, input: unknown): ValidationIssue {
  const { path, code, message } = issue;
  const isNull = path.length > 0 && path.reduce(propertyOf, input) === null;
  if (isNull && code.startsWith("invalid_"))
    return { ...issue, message: `${message}: leave it out to send nothing, if it is optional` };
  if (path.length > 0 || !Array.isArray(input)) return issue;
  return { ...issue, message: `${message}: each is sent alone; for many, see audience.bulk` };
}

/** One issue for one problem: none at a path that has one, and none inside a value that JSON would lose. */
function merged(found: readonly ValidationIssue[], lost: readonly ValidationIssue[]): ValidationIssue[] {
  const isInside = ({ path }: ValidationIssue, outer: ValidationIssue) =>
    path.length > outer.path.length && outer.path.every((key, index) => key === path[index]);
  const kept = found.filter((issue) => !lost.some((one) => isInside(issue, one)));
  const paths = new Set(kept.map(({ path }) => JSON.stringify(path)));
  return [...kept, ...lost.filter(({ path }) => !paths.has(JSON.stringify(path)))];
}
