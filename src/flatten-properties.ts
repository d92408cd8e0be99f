import * as z from "zod";
import { ValidationError, type ValidationIssue } from "./errors.ts";
import { parseOptions } from "./schema/parse-options.ts";
import { wrongType } from "./schema/validate.ts";
import { copyAsJson } from "./values/copy-as-json.ts";
import { isDate, isObject, isRecord } from "./values/predicates.ts";

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
  const { separator } = parseOptions(optionsSchema, options, "The options of flattenProperties");
  const { copy, lost } = isObject(value) ? copyAsJson(value) : { copy: value, lost: [] };
  const issues: ValidationIssue[] = lost;
  if (issues.length === 0 && !isRecord(copy)) {
    const input = isDate(value) ? value : copy;
    issues.push({ path: [], code: "invalid_type", message: wrongType("an object", { input }) });
  }
  if (issues.length > 0) throw new ValidationError(issues);
  const flatProperties = new Map<string, string | number | boolean>();
  const flatten = (item: unknown, path: (string | number)[], name: string): void => {
    const addIssue = (message: string) => void issues.push({ path, code: "custom", message });
    if (isObject(item) && !isDate(item)) {
      for (const [key, inner] of Object.entries(item)) {
        const step = Array.isArray(item) ? Number(key) : key;
        flatten(inner, [...path, step], path.length === 0 ? key : `${name}${separator}${key}`);
      }
    } else if (name === "__proto__") addIssue('would be named "__proto__": rename it');
    else if (flatProperties.has(name)) {
      addIssue(`would be named "${name}", as another value is: rename one, or choose another separator`);
    }
    // Safe: the copy holds no other values.
    else flatProperties.set(name, isDate(item) ? item.toISOString() : (item as string | number | boolean));
  };
  flatten(copy, [], "");
  if (issues.length > 0) throw new ValidationError(issues);
  return Object.fromEntries(flatProperties);
}

const optionsSchema = z.strictObject({ separator: z.string().default("_") });
