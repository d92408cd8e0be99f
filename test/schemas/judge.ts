import { isDeepStrictEqual } from "node:util";
import * as schemas from "audience-sdk/schemas";
import { expect } from "vitest";
import type * as z from "zod";

import { ValidationError, type ValidationIssue } from "../../src/errors.ts";
import type { Field } from "../../src/fields/field.ts";
import { v1AddContactResult, v1ContactGroupListQuery } from "../../src/v1/schemas/contact-group.ts";
import {
  v1ConsentedListContact,
  v1Contact,
  v1ContactFields,
  v1CustomerListQuery,
  v1ListContact,
} from "../../src/v1/schemas/contact.ts";
import { v1Event, v1EventFields } from "../../src/v1/schemas/event.ts";
import { v1Profile } from "../../src/v1/schemas/profile.ts";
import { v2Contact, v2ContactFields, v2UpsertResult } from "../../src/v2/schemas/contact.ts";
import { v2Identifier } from "../../src/v2/schemas/identifier.ts";
import { v2ListPage } from "../../src/v2/schemas/list-page.ts";
import { v2ListQuery } from "../../src/v2/schemas/list.ts";
import { readIssues, validate } from "../../src/validate.ts";
import { zodSchema } from "../../src/zod/zod-schema.ts";

/** Those that the client alone uses. */
export const v1ConsentedListContactSchema = zodSchema(v1ConsentedListContact);
export const v2UpsertResultSchema = zodSchema(v2UpsertResult);

/** What the client reads by, for each schema that is made of it. */
const definitions = new Map<z.ZodType, Field>([
  [schemas.v1ContactSchema, v1Contact],
  [schemas.v1ContactFieldsSchema, v1ContactFields],
  [schemas.v1CustomerListQuerySchema, v1CustomerListQuery],
  [schemas.v1ListContactSchema, v1ListContact],
  [schemas.v1ContactGroupListQuerySchema, v1ContactGroupListQuery],
  [schemas.v1AddContactResultSchema, v1AddContactResult],
  [schemas.v1EventSchema, v1Event],
  [schemas.v1EventFieldsSchema, v1EventFields],
  [schemas.v1ProfileSchema, v1Profile],
  [schemas.v2ContactSchema, v2Contact],
  [schemas.v2ContactFieldsSchema, v2ContactFields],
  [schemas.v2IdentifierSchema, v2Identifier],
  [schemas.v2ListPageSchema, v2ListPage()],
  [schemas.v2ListQuerySchema, v2ListQuery],
  [v1ConsentedListContactSchema, v1ConsentedListContact],
  [v2UpsertResultSchema, v2UpsertResult],
]);

/** All issues that the input is rejected with, none where it passes: by the schema and, for one of ours, by the client, alike. */
export function issuesOf(schema: z.ZodType, input: unknown): readonly ValidationIssue[] {
  const result = schema.safeParse(input);
  const found = result.success ? [] : readIssues(result.error);
  const definition = definitions.get(schema);
  if (definition) expectTheClientToFind(found, result.data, definition, input);
  return found;
}

function expectTheClientToFind(
  issues: readonly ValidationIssue[],
  value: unknown,
  definition: Field,
  input: unknown,
): void {
  const read = readByTheClient(definition, input);
  // Asked first, as `expect` takes seconds for 100,000 issues.
  if (isDeepStrictEqual(read, { issues, value })) return;
  expect(read).toStrictEqual({ issues, value });
}

function readByTheClient(
  definition: Field,
  input: unknown,
): { issues: readonly ValidationIssue[]; value: unknown } {
  try {
    return { issues: [], value: validate(definition, input) };
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    return { issues: error.issues, value: undefined };
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
