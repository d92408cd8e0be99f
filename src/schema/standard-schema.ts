import { ConfigurationError, type ValidationIssue } from "../errors.ts";
import { errorType, ignoreRejection } from "../values/in-words.ts";
import { hasMethods, hasProperty, isObject, propertyOf } from "../values/predicates.ts";
import { type SchemaError, toIssues } from "./validate.ts";

/** A schema of any library that follows [Standard Schema](https://standardschema.dev): zod, valibot, arktype. */
export interface StandardSchema<Input = unknown, Output = Input> {
  /** The part that all libraries of Standard Schema share. */
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** The result of a Standard Schema: its output, or the issues for which it refuses its input. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** One problem that a Standard Schema finds. Many libraries add a `code`. */
export interface StandardIssue {
  /** The broken rule. */
  readonly message: string;
  /** Where the problem lies, from the value down. Default: the value itself. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/**
 * Parses a value with a schema of the user. What the schema refuses is added to `issues`, below `key`. Throws a `ConfigurationError` if the schema is none,
 * throws, or answers later; `name` is the schema's name.
 */
export function parseStandard(
  schema: unknown,
  { name, key, value }: { name: string; key: string; value: unknown },
  issues: ValidationIssue[],
): unknown {
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
  const hasInResult = (property: string) => isObject(result) && hasProperty(result, property);
  const found = hasInResult("issues") ? propertyOf(result, "issues") : undefined;
  if (found !== undefined) {
    // Whatever the issues are, the schema refuses the value.
    const issueList: unknown[] = Array.isArray(found) && found.length > 0 ? found : [{}];
    for (const issue of toIssues({ issues: issueList.map((each) => readIssue(each, key)) }))
      issues.push(issue);
    return undefined;
  }
  if (hasInResult("value")) return propertyOf(result, "value");
  const wayOut = "await it before the call, and define the event with one that answers at once";
  throw new ConfigurationError(
    `The schema of ${name} gave neither a value nor issues: if it gave a promise, ${wayOut}`,
  );
}

function isStandardSchema(schema: unknown): schema is StandardSchema {
  // A schema of arktype is a function.
  return hasMethods(propertyOf(schema, "~standard"), "validate");
}

/** Reads an issue of a schema of any library, with what is usable of it. */
function readIssue(issue: unknown, key: string): SchemaError["issues"][number] {
  const [path, message, code, keys] = ["path", "message", "code", "keys"].map((name) =>
    propertyOf(issue, name),
  );
  const pathParts: unknown[] = Array.isArray(path) ? path : path === undefined || path === null ? [] : [path];
  const pathKeys = pathParts.map((part) => (isObject(part) ? propertyOf(part, "key") : part));
  return {
    path: [key, ...pathKeys.map((part) => (typeof part === "number" ? part : String(part)))],
    message: typeof message === "string" ? message : "is refused by its schema, which gives no reason",
    // zod and arktype add a code, and zod the unknown keys.
    code: typeof code === "string" ? code : "custom",
    ...(Array.isArray(keys) && { keys: keys.map(String) }),
  };
}
