import { isArray } from "./is-array.ts";
import { isDate } from "./is-date.ts";

const kinds: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  object: "an object",
  array: "an array",
  date: "a Date",
  undefined: "undefined",
  bigint: "a BigInt",
};

/** A kind in words, by what JavaScript or zod calls it. */
export function kindNamed(name = ""): string {
  return kinds[name] ?? `a ${name}`;
}

/** What kind of value this is, for a message. Never the value: it may be a key, personal, or ten megabytes. */
export function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (typeof value === "number" && !Number.isFinite(value)) return String(value);
  if (isArray(value)) return "an array";
  if (isDate(value)) return "a Date";
  return kindNamed(typeof value);
}
