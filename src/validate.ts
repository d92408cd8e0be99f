import { readField } from "./fields/read-field.ts";
import { ValidationError, type ValidationIssue } from "./errors.ts";
import type { Field, FoundIssue, Payload, ValueOf } from "./fields/field.ts";
import { unreadableRule } from "./fields/unreadable.ts";
import { explain } from "./fields/explain.ts";

/**
 * The input as its definition reads it, or a `ValidationError` that holds every problem at once. Whatever the input
 * does while it is read (a getter, a proxy that throws), the error is a `ValidationError`, and the input is unchanged.
 */
export function validate<F extends Field>(field: F, input: unknown): ValueOf<F> {
  const payload: Payload = { value: input, issues: [] };
  let issues: ValidationIssue[];
  try {
    readField(field, payload);
    issues = payload.issues.map(inWords);
  } catch {
    /* v8 ignore next -- @preserve nothing is known that comes this far: a net beneath the others */
    issues = [{ path: [], code: "custom", message: unreadableRule }];
  }
  if (issues.length > 0) throw new ValidationError(issues);
  // True: the value is what the field takes, as nothing was found wrong with it.
  return payload.value as ValueOf<F>;
}

function inWords(issue: FoundIssue): ValidationIssue {
  // True: what brings no message along is of a kind that is explained.
  const message = issue.message ?? (issue.explain ?? explain)(issue)!;
  return { path: issue.path ?? [], code: issue.code, message };
}

/** What a zod schema found. */
interface SchemaError {
  readonly issues: readonly {
    readonly path: readonly PropertyKey[];
    readonly code: string;
    readonly message: string;
    /** Of an issue with the code `unrecognized_keys`. */
    readonly keys?: readonly string[];
  }[];
}

/** The issues of a zod error, each with one field as its path, as `ValidationError` holds them. */
export function readIssues(error: SchemaError): ValidationIssue[] {
  return error.issues.flatMap((issue): ValidationIssue[] => {
    const path = issue.path.map((key) => (typeof key === "symbol" ? String(key) : key));
    const { code, message } = issue;
    // Our own objects give each unknown key an issue; a zod object that somebody has put in gives one for all.
    if (code === "unrecognized_keys" && issue.keys && path.at(-1) !== issue.keys[0]) {
      return issue.keys.map((key) => ({ path: [...path, key], code, message }));
    }
    // A union of kinds (a text or a number) is a type, and its message says which.
    return [{ path, code: code === "invalid_union" ? "invalid_type" : code, message }];
  });
}
