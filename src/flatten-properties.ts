import * as z from "zod";
import { ValidationError, type ValidationIssue } from "./errors.ts";
import { copyAsJson } from "./schema/copy-as-json.ts";
import { isObject, isRecord, isDate } from "./schema/kind-of.ts";
import { parseOptions } from "./schema/parse-options.ts";
import { wrongType } from "./schema/validation-issues.ts";

/** Options of `flattenProperties`. */
export interface FlattenOptions {
  /** Joins the keys of the levels; default `_`. */
  readonly separator?: string;
}

/**
 * Flattens nested values to custom properties: the service stores no others ("Custom property value rules").
 *
 * Arrays are flattened by index, a `Date` becomes an ISO string, `undefined` is left out, empty objects and arrays add
 * no key. It does not count keys: `v1ContactSchema` checks the limit of 30.
 *
 * ```ts
 * flattenProperties({ pet: { name: "Rex", tags: ["big"] } }); // { pet_name: "Rex", pet_tags_0: "big" }
 * ```
 *
 * @throws ValidationError if two values would get one name, and for `null`, cycles, and other values that JSON cannot
 * carry.
 */
export function flattenProperties(
  value: object,
  options: FlattenOptions = {},
): Record<string, string | number | boolean> {
  const { separator = "_" } = parseOptions(optionsSchema, options, "The options of flattenProperties");
  if (!isObject(value) || isDate(value)) throw notAnObject(value);
  const { copy, lost: issues } = copyAsJson(value);
  if (issues.length > 0) throw new ValidationError(issues);
  if (!isRecord(copy)) throw notAnObject(copy);
  const flattening: Flattening = { separator, flat: new Map(), issues };
  flatten(copy, [], "", flattening);
  if (issues.length > 0) throw new ValidationError(issues);
  return Object.fromEntries(flattening.flat);
}

const optionsSchema = z.strictObject({ separator: z.string() }).partial();

interface Flattening {
  readonly separator: string;
  readonly flat: Map<string, string | number | boolean>;
  readonly issues: ValidationIssue[];
}

function notAnObject(value: unknown): ValidationError {
  return new ValidationError([
    { path: [], code: "invalid_type", message: wrongType("an object", { input: value }) },
  ]);
}

function flatten(value: unknown, path: (string | number)[], name: string, flattening: Flattening): void {
  if (isObject(value) && !isDate(value)) {
    const isList = Array.isArray(value);
    for (const [key, item] of Object.entries(value)) {
      const itemName = path.length === 0 ? key : `${name}${flattening.separator}${key}`;
      flatten(item, [...path, isList ? Number(key) : key], itemName, flattening);
    }
  } else {
    const { flat, issues } = flattening;
    if (name === "__proto__")
      issues.push({ path, code: "custom", message: 'would be named "__proto__": rename it' });
    // Safe: the copy holds no other values.
    else if (!flat.has(name))
      flat.set(name, isDate(value) ? value.toISOString() : (value as string | number | boolean));
    else {
      const message = `would be named "${name}", as another value is: rename one, or choose another separator`;
      issues.push({ path, code: "custom", message });
    }
  }
}
