import { ConfigurationError, type ValidationIssue } from "../errors.ts";
import { errorType } from "./parse-options.ts";
import { hasMethods } from "./predicates.ts";
import { propertyOf, toIssues } from "./validation-issues.ts";

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

/** What a schema throws is a fault of the schema. Not the message of its error, which may contain personal data. */
function failed(name: string, error: unknown): never {
  throw new ConfigurationError(`The schema of ${name} failed: ${errorType(error)}`);
}

/**
 * Parses a value with a schema of the user: at once, or later if the schema is asynchronous. The issues lie below `key`.
 * Throws, or rejects with, a `ConfigurationError` if the schema is none, or throws; `name` is its name.
 */
export function parseStandard(
  schema: unknown,
  { name, key, value }: { name: string; key: string; value: unknown },
): Parsed | Promise<Parsed> {
  if (!isStandardSchema(schema))
    throw new ConfigurationError(`The schema of ${name} must be a Standard Schema, or null`);
  try {
    const result = schema["~standard"].validate(value);
    if (!hasMethods(result, "then")) return toParsed(result, key);
    return Promise.resolve(result)
      .then((later) => toParsed(later, key))
      .catch((error: unknown) => failed(name, error));
  } catch (error) {
    return failed(name, error);
  }
}

function isStandardSchema(schema: unknown): schema is StandardSchema {
  // A schema of arktype is a function.
  return hasMethods(propertyOf(schema, "~standard"), "validate");
}

function toParsed(result: StandardResult<unknown>, key: string): Parsed {
  if (!result.issues) return { output: result.value, issues: [] };
  const issues = result.issues.map((issue) => {
    // Safe: read as what it may be; zod and arktype add a code, and zod the unknown keys.
    const { code, keys } = issue as { code?: unknown; keys?: readonly string[] };
    const path = (issue.path ?? []).map((part) => (typeof part === "object" ? part.key : part));
    const known = { path: [key, ...path], message: issue.message };
    return { ...known, code: typeof code === "string" ? code : "custom", ...(keys && { keys }) };
  });
  return { issues: toIssues({ issues }) };
}
