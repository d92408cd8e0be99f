import { AudienceClient, BadRequestError, ValidationError, type ValidationIssue } from "audience-sdk";
import * as schemas from "audience-sdk/schemas";
import { expect } from "vitest";
import type * as z from "zod";

/** What the client sends last. Each call ends with a 400, as only what is sent counts. */
let sent: string | undefined;
const { v1, v2 } = new AudienceClient({
  baseUrl: "https://audience.test",
  baseUrlV2: "https://audience.test",
  apiKey: "a-key-of-tests",
  appId: "an-app",
  rateLimiter: false,
  fetch: async (_url, { body }) => {
    sent = typeof body === "string" ? body : undefined;
    return Response.json({}, { status: 400 });
  },
});

// Safe: these tests pass values of any type.
const untyped = (input: unknown) => input as never;

/** The call that validates with each schema. */
const calls = new Map<z.ZodType, (input: unknown) => PromiseLike<unknown>>([
  [schemas.v1ContactSchema, (input) => v1.customers.upsert(untyped(input))],
  [
    schemas.v1ListContactSchema,
    (input) => v1.contactGroups.addContact("news", untyped(input), { consent: "service-decides" }),
  ],
  [schemas.v1EventSchema, (input) => v1.events.send(untyped(input))],
  [schemas.v1CustomerListQuerySchema, (input) => v1.customers.list(untyped(input))],
  [schemas.v1ContactGroupListQuerySchema, (input) => v1.contactGroups.list(untyped(input))],
  [schemas.v2ContactSchema, (input) => v2.contacts.upsert(untyped(input))],
  [
    schemas.v2IdentifierSchema,
    (input) => v2.contacts.upsert({ firstName: "Ada", listIds: [], identifiers: [untyped(input)] }),
  ],
  [schemas.v2ListQuerySchema, (input) => v2.lists.list(untyped(input))],
]);

/** The issues with which the client rejects the input, or a schema without a call; empty for accepted input. */
export async function issuesOf(schema: z.ZodType, input: unknown): Promise<readonly ValidationIssue[]> {
  const call = calls.get(schema);
  if (call === undefined) return ofSchema(schema, input);
  sent = undefined;
  try {
    await call(input);
  } catch (error) {
    if (error instanceof ValidationError)
      return schema === schemas.v2IdentifierSchema
        ? error.issues.map((issue) => ({ ...issue, path: issue.path.slice(2) }))
        : error.issues;
    if (!(error instanceof BadRequestError)) throw error;
  }
  expectSent(schema, input);
  return [];
}

/** What was sent is the input as JSON, and the schema accepts it too. */
function expectSent(schema: z.ZodType, input: unknown): void {
  const json = JSON.stringify(input);
  if (
    schema === schemas.v1ContactSchema ||
    schema === schemas.v1ListContactSchema ||
    schema === schemas.v2ContactSchema
  )
    expect(sent === json).toBe(true);
  expect(schema.safeParse(json === undefined ? undefined : JSON.parse(json)).success).toBe(true);
}

/** One issue for each unknown key, as the client has it. */
function ofSchema(schema: z.ZodType, input: unknown): ValidationIssue[] {
  const { issues = [] } = schema.safeParse(input).error ?? {};
  return issues.flatMap((issue) => {
    const path = issue.path.map((key) => (typeof key === "symbol" ? String(key) : key));
    const { code, message } = issue;
    if (issue.code !== "unrecognized_keys") return [{ path, code, message }];
    return issue.keys.map((key) => ({ path: [...path, key], code, message }));
  });
}

/** The issues as `path code`, for programs. */
export async function verdict(schema: z.ZodType, input: unknown): Promise<string[]> {
  return (await issuesOf(schema, input)).map(({ path, code }) => `${path.join(".")} ${code}`.trim());
}

/** The messages at a path, for people. */
export async function messageAt(schema: z.ZodType, input: unknown, path: string): Promise<string> {
  return (await issuesOf(schema, input))
    .filter((issue) => issue.path.join(".") === path)
    .map((issue) => issue.message)
    .join("; ");
}
