import { ValidationError, type ValidationIssue } from "../../src/errors.ts";
import { validate } from "../../src/validate.ts";
import type * as z from "zod";

/** All issues that the client would reject the input with; none where it would send it. */
export function issuesOf(schema: z.ZodType, input: unknown): readonly ValidationIssue[] {
  try {
    validate(schema, input);
    return [];
  } catch (error) {
    if (error instanceof ValidationError) return error.issues;
    throw error;
  }
}

/** The issues as `path code`, which is what a program reads. */
export function verdict(schema: z.ZodType, input: unknown): string[] {
  return issuesOf(schema, input).map(({ path, code }) => `${path.join(".")} ${code}`.trim());
}

/** The messages at a path, which is what a person reads. */
export function messageAt(schema: z.ZodType, input: unknown, path: string): string {
  return issuesOf(schema, input)
    .filter((issue) => issue.path.join(".") === path)
    .map((issue) => issue.message)
    .join("; ");
}
