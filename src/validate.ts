import type * as z from "zod";

import { ValidationError, type ValidationIssue } from "./errors.ts";
import { unreadableRule } from "./fields/unreadable.ts";

/**
 * The input as its schema reads it, or a `ValidationError` that holds every problem at once. Whatever the input does
 * while it is read (a getter, a proxy that throws), the error is a `ValidationError`, and the input is unchanged.
 */
export function validate<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  let issues: ValidationIssue[];
  try {
    const result = schema.safeParse(input);
    if (result.success) return result.data;
    issues = readIssues(result.error);
  } catch {
    issues = [{ path: [], code: "custom", message: unreadableRule }];
  }
  throw new ValidationError(issues);
}

/** The issues of a zod error, each with one field as its path, as `ValidationError` holds them. */
export function readIssues(error: z.core.$ZodError): ValidationIssue[] {
  return error.issues.flatMap((issue): ValidationIssue[] => {
    const path = issue.path.map((key) => (typeof key === "symbol" ? String(key) : key));
    const { code, message } = issue;
    // Our own objects give each unknown key an issue; a zod object that somebody has put in gives one for all.
    if (code === "unrecognized_keys" && path.at(-1) !== issue.keys[0]) {
      return issue.keys.map((key) => ({ path: [...path, key], code, message }));
    }
    // A union of kinds (a text or a number) is a type, and its message says which.
    return [{ path, code: code === "invalid_union" ? "invalid_type" : code, message }];
  });
}
