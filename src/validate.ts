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
  const { copy, lost, dates } = isObject(input) ? copyAsJson(input) : { copy: input, lost: [], dates: [] };
  const isUnreadable = copy === undefined && lost.length > 0;
  const { error, data } = isUnreadable ? {} : schema.safeParse(copy, { error: explain });
  if (error || lost.length > 0 || dates.length > 0) {
    /* v8 ignore next -- @preserve every input is an object: the type of a schema does not say so. */
    const names = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
    const found = error
      ? toIssues(error).map((issue) => withWayOut(withNameMeant(issue, copy, names), copy))
      : // zod takes a Date for an object without keys, and returns such an object.
        dates
          .filter((path) => path.reduce(propertyOf, data) !== path.reduce(propertyOf, copy))
          .map(notAnObject);
    // One by one: a spread of a hundred thousand would overflow the stack.
    for (const issue of merged(found, lost)) issues.push(issue);
  }
  // Safe: the caller uses it if there are no issues, and the schemas have no transforms. The copy, because zod's output has
  // another order of keys.
  return copy as Value;
}

function withWayOut(issue: ValidationIssue, input: unknown): ValidationIssue {
  const { path, code, message } = issue;
  const isNull = path.length > 0 && path.reduce(propertyOf, input) === null;
  if (isNull && code !== "unrecognized_keys")
    return { ...issue, message: `${message}: leave it out to send nothing, if it is optional` };
  if (path.length > 0 || !Array.isArray(input)) return issue;
  return { ...issue, message: `${message}: each is sent alone; for many, see audience.bulk` };
}

function notAnObject(path: ValidationIssue["path"]): ValidationIssue {
  return { path, code: "invalid_type", message: "must be an object, not a Date" };
}

/** One issue for one problem: a value of a wrong type needs no second issue about JSON. */
function merged(found: readonly ValidationIssue[], lost: readonly ValidationIssue[]): ValidationIssue[] {
  const types = found.filter(({ code }) => code !== "custom");
  const isReported = ({ path, code }: ValidationIssue) =>
    lost.some((one) => isIn(path, one.path) && (code === "custom" || path.length > one.path.length));
  return [
    ...found.filter((issue) => !isReported(issue)),
    ...lost.filter(({ path }) => !types.some((one) => isIn(path, one.path))),
  ];
}

function isIn(path: ValidationIssue["path"], outer: ValidationIssue["path"]): boolean {
  return outer.every((key, index) => key === path[index]);
}
