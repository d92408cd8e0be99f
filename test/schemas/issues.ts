import * as schemas from "audience-sdk/schemas";
import { expect } from "vitest";
import type * as z from "zod";
import type { ValidationIssue } from "../../src/errors.ts";
import { explain, toIssues } from "../../src/schema/validation-issues.ts";
import { v2UpsertResultSchema } from "../../src/v2/schemas/contact.ts";
import { validate } from "../../src/validate.ts";

const responseSchemas = new Set<z.ZodType>([
  schemas.v1AddContactResultSchema,
  schemas.v1ProfileSchema,
  schemas.v2ListPageSchema,
  v2UpsertResultSchema,
]);

/** The issues with which the client rejects the input; empty for accepted input. */
export function issuesOf(schema: z.ZodType, input: unknown): readonly ValidationIssue[] {
  if (responseSchemas.has(schema)) {
    const { error } = schema.safeParse(input, { error: explain });
    return error ? toIssues(error) : [];
  }
  const issues: ValidationIssue[] = [];
  const accepted = validate(schema, input, issues);
  if (issues.length === 0) expectToBeSent(schema, accepted, input);
  return issues;
}

/** The accepted value is the input as JSON, and its schema accepts it too. */
function expectToBeSent(schema: z.ZodType, accepted: unknown, input: unknown): void {
  const json = JSON.stringify(input);
  expect(JSON.stringify(accepted)).toBe(json);
  expect(schema.safeParse(json === undefined ? undefined : JSON.parse(json)).success).toBe(true);
}

/** The issues as `path code`, for programs. */
export function verdict(schema: z.ZodType, input: unknown): string[] {
  return issuesOf(schema, input).map(({ path, code }) => `${path.join(".")} ${code}`.trim());
}

/** The messages at a path, for people. */
export function messageAt(schema: z.ZodType, input: unknown, path: string): string {
  return issuesOf(schema, input)
    .filter((issue) => issue.path.join(".") === path)
    .map((issue) => issue.message)
    .join("; ");
}
