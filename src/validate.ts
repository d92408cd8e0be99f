import type * as z from "zod";

import { ValidationError, type ValidationIssue } from "./errors.ts";

/**
 * The input as its schema reads it, or a `ValidationError` that holds every problem at once. Whatever the input does
 * while it is read (a getter, a proxy that throws), the error is a `ValidationError`, and the input is unchanged.
 */
export function validate<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const { issues, data } = parse(schema, input);
  if (issues !== undefined) throw new ValidationError(issues);
  return data;
}

/** The issues of a zod error, each with one field as its path, as `ValidationError` holds them. */
export function readIssues(error: z.core.$ZodError): ValidationIssue[] {
  return error.issues.flatMap((issue): ValidationIssue[] => {
    const path = issue.path.map((key) => (typeof key === "symbol" ? String(key) : key));
    const { code, message } = issue;
    if (code === "unrecognized_keys" && !issue.keys.includes(String(path.at(-1))) && path.length === 0) {
      return issue.keys.map((key) => ({ path: [...path, key], code, message }));
    }
    // A union of kinds (a text or a number) is a type, and its message says which.
    return [{ path, code: code === "invalid_union" ? "invalid_type" : code, message }];
  });
}

type Parsed<Output> = { issues: ValidationIssue[]; data?: never } | { issues?: never; data: Output };

function parse<Schema extends z.ZodType>(schema: Schema, input: unknown): Parsed<z.output<Schema>> {
  try {
    if (Array.isArray(input)) return { issues: [{ path: [], code: "invalid_type", message: arrayGiven }] };
    const result = schema.safeParse(input);
    return result.success ? { data: result.data } : { issues: readIssues(result.error) };
  } catch {
    // What was thrown is the input's own, and may hold anything: it is not shown.
    return { issues: [{ path: [], code: "custom", message: "cannot be read: reading it threw an error" }] };
  }
}

const arrayGiven = "must be one object, not an array: each is sent alone; for many, see audience.bulk";
