import * as z from "zod";
import type { ValidationIssue } from "./errors.ts";
import { explain, toIssues } from "./schema/validation-issues.ts";
import { copyAsJson } from "./values/copy-as-json.ts";
import { sameName } from "./values/in-words.ts";
import { isObject, isRecord, propertyOf } from "./values/predicates.ts";

/**
 * Returns the input as JSON would send it. What the schema refuses, and what JSON would lose, is added to `issues`. The
 * input is unchanged. The schema may depend on what JSON would send.
 */
export function validate<Value>(
  given: z.ZodType<Value> | ((copy: unknown) => z.ZodType<Value>),
  input: unknown,
  issues: ValidationIssue[],
): Value {
  const { copy, lost } = isObject(input) ? copyAsJson(input) : { copy: input, lost: [] };
  const schema = typeof given === "function" ? given(copy) : given;
  const isRead = copy !== undefined || lost.length === 0;
  const { error } = isRead ? schema.safeParse(copy, { error: explain }) : {};
  /* v8 ignore next -- @preserve every input is an object: the type of a schema does not say so. */
  const names = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  const found = error
    ? toIssues(error).map((issue) => ({ ...issue, message: messageWithWayOut(issue, copy, names) }))
    : [];
  // One by one: a spread of a hundred thousand would overflow the stack.
  for (const issue of merged(found, lost)) issues.push(issue);
  // Safe: the caller uses it if there are no issues, and the schemas have no transforms. The copy, because zod's output has
  // another order of keys.
  return copy as Value;
}

/** Adds to a message `first_name` for `firstName`, or how to leave a value out. `names` are the documented keys of the input. */
function messageWithWayOut(
  { path, code, message }: ValidationIssue,
  input: unknown,
  names: readonly string[],
): string {
  const key = path.at(-1);
  if (key === undefined)
    return Array.isArray(input) ? `${message}: each is sent alone; for many, see audience.bulk` : message;
  const holder = path.slice(0, -1).reduce(propertyOf, input);
  const value = propertyOf(holder, key);
  if (value === null && code.startsWith("invalid_"))
    return `${message}: leave it out to send nothing, if it is optional`;
  if (typeof key !== "string" || code === "custom") return message;
  if (code === "unrecognized_keys") {
    const meant = sameName(key, path.length === 1 ? names : []);
    return meant === undefined ? message : `unknown key: write "${meant}"`;
  }
  if (!isRecord(holder) || value !== undefined) return message;
  const given = Object.keys(holder).find(
    (other) => !names.includes(other) && sameName(other, [key]) !== undefined,
  );
  return given === undefined ? message : `required; "${given}" was given: write "${key}"`;
}

/** One issue for one problem: none at a path that has one, and none inside a value that JSON would lose. */
function merged(found: readonly ValidationIssue[], lost: readonly ValidationIssue[]): ValidationIssue[] {
  const isInside = ({ path }: ValidationIssue, outer: ValidationIssue) =>
    path.length > outer.path.length && outer.path.every((key, index) => key === path[index]);
  const kept = found.filter((issue) => !lost.some((one) => isInside(issue, one)));
  const paths = new Set(kept.map(({ path }) => JSON.stringify(path)));
  return [...kept, ...lost.filter(({ path }) => !paths.has(JSON.stringify(path)))];
}
