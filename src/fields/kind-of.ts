import { isArray } from "./is-array.ts";
import { isDate } from "./is-date.ts";

const kinds: Readonly<Record<string, string>> = {
  string: "a text",
  int: "a whole number",
  boolean: "true or false",
  date: "a Date",
  undefined: "undefined",
  bigint: "a BigInt",
};

/** A kind in words, by what JavaScript or zod calls it. */
export function kindNamed(name = ""): string {
  return kinds[name] ?? withArticle(name);
}

/** `an object`, `a Map`. */
export function withArticle(name: string): string {
  return /^[aeio]/i.test(name) ? `an ${name}` : `a ${name}`;
}

/** What kind of value this is, for a message. Never the value: it may be a key, personal, or ten megabytes. */
export function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (typeof value === "number" && !Number.isFinite(value)) return String(value);
  if (isArray(value)) return "an array";
  if (isDate(value)) return "a Date";
  return kindNamed(typeof value);
}
