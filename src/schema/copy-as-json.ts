import * as z from "zod";
import type { ValidationIssue } from "../errors.ts";
import { awaitIt, contentLost, kindOf } from "./kind-of.ts";
import { isDate, isObject, isPlain } from "./predicates.ts";

// Our own limits: a value that refers to one object a billion times would hang the process (D16).
const maxDepth = 1_000;
const maxValues = 200_000;
const maxIssues = 100;

/**
 * Copies `input` as JSON would send it: own properties, the result of `toJSON`, nothing that is `undefined`. A valid
 * Date inside stays a Date. Reports values that JSON would lose or write as null (numbers that are not finite, functions,
 * BigInt, cycles, Map, Set, …), and `null`, which the client never sends (D1); the copy holds them unchanged, so that a
 * schema can report them, too. It is undefined if the input is too large or cannot be read.
 */
export function copyAsJson(input: unknown): { copy: unknown; lost: ValidationIssue[] } {
  const lost: ValidationIssue[] = [];
  const path: (string | number)[] = [];
  const ancestors = new Set<object>();
  let values = 0;

  function refuse(message: string, value?: unknown): unknown {
    if (lost.length < maxIssues) lost.push({ path: [...path], code: "custom", message });
    return value;
  }

  function copyProperty(holder: object, key: string | number): unknown {
    path.push(key);
    const copy = copyOf(holder, key);
    path.pop();
    return copy;
  }

  function copyOf(holder: object, key: string | number): unknown {
    // The receiver of the JSON may drop the key, or set a prototype.
    if (key === "__proto__") return refuse("is not accepted as a key: use another");
    const value: unknown = Reflect.get(holder, key);
    return value === undefined && !Array.isArray(holder) ? undefined : copyValue(value);
  }

  function copyValue(value: unknown): unknown {
    values += 1;
    if (values > maxValues) throw new TooLarge(`holds more than ${maxValues} values`);
    if (path.length > maxDepth) throw new TooLarge(`is nested deeper than ${maxDepth} levels`);
    if (isObject(value)) return copyObject(value);
    if (typeof value === "string" || typeof value === "boolean" || Number.isFinite(value)) return value;
    if (value === null) return refuse("must not be null: leave it out to send nothing", value);
    if (value === undefined) return refuse("undefined in an array would become null: leave the item out");
    return refuse(`JSON cannot carry ${kindOf(value)}`, value);
  }

  function copyObject(value: object): unknown {
    if (!isPlain(value) && isDate(value)) {
      if (Number.isNaN(value.getTime())) return refuse("is an invalid Date", value);
      if (path.length > 0) return value;
    }
    if (ancestors.has(value)) return refuse("refers to itself, which JSON cannot carry", value);
    const toJson: unknown = Reflect.get(value, "toJSON");
    // Like JSON.stringify: the result of a toJSON has no further toJSON called.
    const given: unknown =
      typeof toJson === "function" ? Reflect.apply(toJson, value, [String(path.at(-1) ?? "")]) : value;
    if (given === undefined) return refuse("its toJSON gives nothing", value);
    if (!isObject(given)) return copyValue(given);
    ancestors.add(value);
    const copy = copyItems(given);
    ancestors.delete(value);
    return copy;
  }

  function copyItems(value: object): unknown {
    if (Array.isArray(value)) return Array.from(value, (_, index) => copyProperty(value, index));
    const kind = isPlain(value) ? undefined : contentLost(value);
    if (kind !== undefined) return refuse(`JSON cannot carry ${kind}${awaitIt(value)}`, value);
    const copy: Record<string, unknown> = {};
    for (const key of Object.keys(value)) {
      const property = copyProperty(value, key);
      if (property !== undefined) copy[key] = property;
    }
    return copy;
  }

  try {
    return { copy: copyValue(input), lost };
  } catch (error) {
    const issue =
      error instanceof TooLarge
        ? { path: [], message: error.message }
        : { path, message: "cannot be read: a getter or a toJSON throws" };
    return { copy: undefined, lost: [{ ...issue, code: "custom" }] };
  }
}

class TooLarge extends Error {}

function rejectLost({ value, issues }: z.core.ParsePayload): void {
  if (value === undefined) return;
  for (const issue of copyAsJson(value).lost) issues.push({ ...issue, code: "custom", input: value });
}

/** Any value that JSON can carry, except `null`. */
export const jsonValue = z.unknown().check(rejectLost);

/** An object with any keys and such values. */
export const jsonObject = z.record(z.string(), z.unknown()).check(rejectLost);
