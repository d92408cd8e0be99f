import { ConfigurationError, type ValidationIssue } from "../errors.ts";
import { errorType, ignoreRejection } from "../values/in-words.ts";
import { hasMethods, hasProperty, isObject, propertyOf } from "../values/predicates.ts";
import { type SchemaError, toIssues } from "./validate.ts";

/** A schema of any library that follows [Standard Schema](https://standardschema.dev): zod, valibot, arktype. */
export interface StandardSchema<Input = unknown, Output = Input> {
  /** The part that all such libraries share. */
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** What a schema outputs, or why it refuses its input. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** One problem. Many libraries add a `code`. */
export interface StandardIssue {
  /** The broken rule. */
  readonly message: string;
  /** Where, from the value down. Default: the value itself. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** A parsed value; `issues` is empty if the schema accepts it. */
export interface Parsed {
  readonly output?: unknown;
  readonly issues: readonly ValidationIssue[];
}

/**
 * Parses a value with a schema of the user. The issues lie below `key`. Throws a `ConfigurationError` if the schema is none,
 * throws, or answers later; `name` is its name.
 */
export function parseStandard(
  schema: unknown,
  { name, key, value }: { name: string; key: string; value: unknown },
): Parsed {
  if (!isStandardSchema(schema))
    throw new ConfigurationError(`The schema of ${name} must be a Standard Schema, or null`);
  let result: unknown;
  try {
    result = schema["~standard"].validate(value);
  } catch (error) {
    // A fault of the schema. Not the message of its error, which may contain personal data.
    throw new ConfigurationError(`The schema of ${name} failed: ${errorType(error)}`);
  }
  ignoreRejection(result);
  const has = (property: string) => isObject(result) && hasProperty(result, property);
  const issues = has("issues") ? propertyOf(result, "issues") : undefined;
  // Whatever they are, it is a refusal.
  const list: unknown[] = Array.isArray(issues) && issues.length > 0 ? issues : [{}];
  if (issues !== undefined)
    return { issues: toIssues({ issues: list.map((issue) => readIssue(issue, key)) }) };
  if (has("value")) return { output: propertyOf(result, "value"), issues: [] };
  const wayOut = "await it before the call, and define the event with one that answers at once";
  throw new ConfigurationError(
    `The schema of ${name} gave neither a value nor issues: if it gave a promise, ${wayOut}`,
  );
}

function isStandardSchema(schema: unknown): schema is StandardSchema {
  // A schema of arktype is a function.
  return hasMethods(propertyOf(schema, "~standard"), "validate");
}

/** An issue of any library, with what is usable of it. */
function readIssue(issue: unknown, key: string): SchemaError["issues"][number] {
  const [path, message, code, keys] = ["path", "message", "code", "keys"].map((name) =>
    propertyOf(issue, name),
  );
  const parts: unknown[] = Array.isArray(path) ? path : path === undefined || path === null ? [] : [path];
  const names = parts.map((part) => (isObject(part) ? propertyOf(part, "key") : part));
  return {
    path: [key, ...names.map((name) => (typeof name === "number" ? name : String(name)))],
    message: typeof message === "string" ? message : "is refused by its schema, which gives no reason",
    // zod and arktype add a code, and zod the unknown keys.
    code: typeof code === "string" ? code : "custom",
    ...(Array.isArray(keys) && { keys: keys.map(String) }),
  };
}
