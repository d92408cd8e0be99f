import * as z from "zod";
import type { ValidationIssue } from "../errors.ts";
import { copyAsJson } from "../values/copy-as-json.ts";
import { givenInstead, kindNamed, mustBe, sameName } from "../values/in-words.ts";
import { isObject, isRecord, propertyOf } from "../values/predicates.ts";
import { countCharacters } from "./formats.ts";

/**
 * Validates the input, and returns it as JSON would send it. What the schema refuses, and what JSON would lose, is added to
 * `issues`. The input is unchanged.
 */
export function validate<Value>(schema: z.ZodType<Value>, input: unknown, issues: ValidationIssue[]): Value {
  const { copy, lost } = isObject(input) ? copyAsJson(input) : { copy: input, lost: [] };
  const isReadable = copy !== undefined || lost.length === 0;
  const parsed = isReadable ? schema.safeParse(copy, { error: explain }) : undefined;
  /* v8 ignore next -- @preserve every input is an object: the type of a schema does not say so. */
  const names = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  const found = parsed?.success === false ? toIssues(parsed.error) : [];
  const schemaIssues = found.map((issue) => ({ ...issue, message: messageWithWayOut(issue, copy, names) }));
  // One by one: a spread of a hundred thousand would overflow the stack.
  for (const issue of mergeIssues(schemaIssues, lost)) issues.push(issue);
  // Safe: the caller uses it if there are no issues, and the schemas have no transforms. The copy, because zod's output has
  // another order of keys.
  return copy as Value;
}

/** Adds to a message `first_name` for `firstName`, or how to leave a value out. `names` are the documented keys of the input. */
function messageWithWayOut(
  { path, code, message }: ValidationIssue,
  input: unknown,
  names: readonly string[],
): string {
  const key = path.at(-1);
  if (key === undefined)
    return Array.isArray(input) ? `${message}: each is sent alone; for many, see audience.bulk` : message;
  const holder = path.slice(0, -1).reduce(propertyOf, input);
  const value = propertyOf(holder, key);
  if (value === null && code.startsWith("invalid_"))
    return `${message}: leave it out to send nothing, if it is optional`;
  if (typeof key !== "string" || code === "custom") return message;
  if (code === "unrecognized_keys") {
    const meant = sameName(key, path.length === 1 ? names : []);
    return meant === undefined ? message : `unknown key: write "${meant}"`;
  }
  if (!isRecord(holder) || value !== undefined) return message;
  const similarKey = Object.keys(holder).find(
    (other) => !names.includes(other) && sameName(other, [key]) !== undefined,
  );
  return similarKey === undefined ? message : `required${givenInstead(similarKey, key)}`;
}

/** One issue for one problem: a value of a wrong type has no other, and none is inside a value that JSON would lose. */
function mergeIssues(found: readonly ValidationIssue[], lost: readonly ValidationIssue[]): ValidationIssue[] {
  const pathsOf = (issues: readonly ValidationIssue[]) =>
    new Set(issues.map(({ path }) => JSON.stringify(path)));
  const isOfType = ({ code }: ValidationIssue) => code === "invalid_type" || code === "invalid_value";
  const [lostPaths, mistypedPaths] = [pathsOf(lost), pathsOf(found.filter(isOfType))];
  const isInLost = ({ path }: ValidationIssue) =>
    path.some((_, depth) => lostPaths.has(JSON.stringify(path.slice(0, depth))));
  const kept = found.filter(
    (issue) => !isInLost(issue) && (isOfType(issue) || !mistypedPaths.has(JSON.stringify(issue.path))),
  );
  const keptPaths = pathsOf(kept);
  return [...kept, ...lost.filter(({ path }) => !keptPaths.has(JSON.stringify(path)))];
}

/** For a rule over several keys of an object: zod skips it beside other issues, but a call reports all problems at once. */
export const besideOtherIssues = { when: ({ value }: z.core.ParsePayload): boolean => isRecord(value) };

/** The message for unknown keys that resemble no known key. It begins with the keys: a bare `safeParse` shows nothing else. */
export function unknownKeys(message: string): z.core.$ZodErrorMap {
  return (issue) => (issue.code === "unrecognized_keys" ? `${quoted(issue.keys)}: ${message}` : undefined);
}

function quoted(keys: readonly string[]): string {
  return keys.map((key) => JSON.stringify(key)).join(", ");
}

/** The message for a zod issue: the rule, the type that was given, and the way out. Never the value itself. */
export const explain: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case "invalid_type":
      return wrongType(kindNamed(issue.expected), issue);
    case "invalid_union": {
      // Each branch of our unions is a type.
      const kinds = issue.errors.map(([first]) => kindNamed(String(propertyOf(first, "expected"))));
      return wrongType(kinds.join(" or "), issue);
    }
    case "invalid_value":
      return wrongChoice(issue.values.map(String), issue);
    case "too_small":
      return outOfBounds("at least", Number(issue.minimum), issue.input);
    case "too_big":
      return outOfBounds("at most", Number(issue.maximum), issue.input);
    /* v8 ignore next 2 -- @preserve no schema of ours has another rule without words of its own */
    default:
      return undefined;
  }
};

/** "required: a string", "must be a string, not a number". */
export function wrongType(
  expected: string,
  { input, path = [] }: { input?: unknown; path?: readonly PropertyKey[] | undefined },
): string {
  const isMissing = input === undefined && typeof path.at(-1) !== "number";
  return isMissing ? `required: ${expected}` : mustBe(expected, input);
}

function wrongChoice(values: readonly string[], context: Parameters<typeof wrongType>[1]): string {
  const choice = values.length === 1 ? values.join() : `one of ${values.join(", ")}`;
  // The string "true" is not the value true.
  if (typeof context.input !== "string" || values.includes(context.input)) return wrongType(choice, context);
  const meant = sameName(context.input, values);
  return meant === undefined ? `must be ${choice}` : `must be ${choice}; case counts, write ${meant}`;
}

function outOfBounds(bound: "at least" | "at most", limit: number, input: unknown): string {
  if ((input === "" || (Array.isArray(input) && input.length === 0)) && limit === 1)
    return "must not be empty";
  if (typeof input === "string")
    return `must have ${bound} ${limit} characters, has ${countCharacters(input)}`;
  return `must be ${bound} ${limit}`;
}

/** The error of a zod schema, of any version of zod. */
export interface SchemaError {
  readonly issues: readonly {
    readonly path: readonly PropertyKey[];
    readonly code: string;
    readonly message: string;
    /** The unknown keys, only with the code `unrecognized_keys`. */
    readonly keys?: readonly string[];
  }[];
}

/** The issues of a zod error as `ValidationError` holds them: one for each unknown key, with the key in its path. */
export function toIssues({ issues }: SchemaError): ValidationIssue[] {
  return issues.flatMap(({ path, code, message, keys }): ValidationIssue[] => {
    const parent = path.map((key) => (typeof key === "symbol" ? String(key) : key));
    if (code === "unrecognized_keys" && keys) {
      // Each issue names its unknown key by its path.
      const withoutKeys = message.replace(`${quoted(keys)}: `, "");
      return keys.map((key) => ({ path: [...parent, key], code, message: withoutKeys }));
    }
    // A union (a string or a number) is a type error, and its message names the types.
    return [{ path: parent, code: code === "invalid_union" ? "invalid_type" : code, message }];
  });
}
