import * as z from "zod";
import type { ValidationIssue } from "../errors.ts";
import { awaitIt, contentLost, kindOf } from "./kind-of.ts";
import { isDate, isObject, isPlain } from "./predicates.ts";

const maxIssues = 100;

/**
 * Copies `input` as `JSON.stringify` would send it: own properties, the result of `toJSON`, nothing that is `undefined`. A
 * valid Date inside stays a Date. Reports what JSON would lose or write as null (numbers that are not finite, functions,
 * BigInt, cycles, Map, Set, …), and `null`, which the client never sends (D1); the copy holds them unchanged, so that a
 * schema can report them, too. It is undefined if the input cannot be read.
 */
export function copyAsJson(input: unknown): { copy: unknown; lost: ValidationIssue[] } {
  const lost: ValidationIssue[] = [];
  const path: (string | number)[] = [];
  const ancestors = new Set<object>();

  function refuse(message: string, value?: unknown): unknown {
    if (lost.length < maxIssues) lost.push({ path: [...path], code: "custom", message });
    return value;
  }

  function copyValue(value: unknown): unknown {
    if (isObject(value)) return copyObject(value);
    if (typeof value === "string" || typeof value === "boolean" || Number.isFinite(value)) return value;
    if (value === null) return refuse("must not be null: leave it out to send nothing", value);
    if (value === undefined) return refuse("undefined in an array would become null: leave the item out");
    // A program may have given BigInt a toJSON.
    const given = typeof value === "bigint" ? resultOfToJson(value) : value;
    if (typeof given === "string" || Number.isFinite(given)) return given;
    return refuse(`JSON cannot carry ${kindOf(value)}`, value);
  }

  /** Like JSON.stringify: the result has no further toJSON called. */
  function resultOfToJson(value: object | bigint): unknown {
    const toJson: unknown = Reflect.get(Object(value), "toJSON");
    return typeof toJson === "function" ? Reflect.apply(toJson, value, [String(path.at(-1) ?? "")]) : value;
  }

  function copyObject(value: object): unknown {
    if (!isPlain(value) && isDate(value)) {
      if (Number.isNaN(value.getTime())) return refuse("is an invalid Date", value);
      if (path.length > 0) return value;
    }
    if (ancestors.has(value)) return refuse("refers to itself, which JSON cannot carry", value);
    const given = resultOfToJson(value);
    if (given === undefined) return refuse("its toJSON gives nothing", value);
    if (!isObject(given)) return copyValue(given);
    ancestors.add(value);
    const copy = copyItems(given);
    ancestors.delete(value);
    return copy;
  }

  function copyItems(value: object): unknown {
    const isArray = Array.isArray(value);
    const kind = isArray || isPlain(value) ? undefined : contentLost(value);
    if (kind !== undefined) return refuse(`JSON cannot carry ${kind}${awaitIt(value)}`, value);
    const copy = isArray ? [] : {};
    // An array has an item for each index, also where it has a hole.
    for (const key of isArray ? value.keys() : Object.keys(value)) {
      path.push(key);
      // The receiver of the JSON may drop the key, or set a prototype.
      if (key === "__proto__") refuse("is not accepted as a key: use another");
      else {
        const property: unknown = Reflect.get(value, key);
        if (isArray || property !== undefined) Reflect.set(copy, key, copyValue(property));
      }
      path.pop();
    }
    return copy;
  }

  try {
    return { copy: copyValue(input), lost };
  } catch (error) {
    const issue = isOverflow(error)
      ? { path: [], message: "is nested too deeply" }
      : { path, message: "cannot be read: a getter or a toJSON throws" };
    return { copy: undefined, lost: [{ ...issue, code: "custom" }] };
  }
}

/** A message of V8 and JavaScriptCore, or of SpiderMonkey. */
function isOverflow(error: unknown): boolean {
  return error instanceof Error && /call stack|recursion/.test(error.message);
}

function rejectLost({ value, issues }: z.core.ParsePayload): void {
  if (value === undefined) return;
  for (const issue of copyAsJson(value).lost) issues.push({ ...issue, code: "custom", input: value });
}

/** Any value that JSON can carry, except `null`. */
export const jsonValue = z.unknown().check(rejectLost);

/** An object with any keys and such values. */
export const jsonObject = z.record(z.string(), z.unknown()).check(rejectLost);
