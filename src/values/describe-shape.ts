import { kindOf } from "./kind-of.ts";
import { isRecord } from "./predicates.ts";

export function describeShape(value: unknown): string {
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (!isRecord(value)) return value === undefined ? "nothing" : kindOf(value);
  const keys = Object.keys(value);
  if (keys.length === 0) return "an object without keys";
  return `an object with the keys ${describeKeys(keys)}`;
}

/** As `describeShape`, and the same of `data`. */
export function describeBody(body: unknown): string {
  const data = isRecord(body) && "data" in body ? `, its \`data\` is ${describeShape(body["data"])}` : "";
  return `${describeShape(body)}${data}`;
}

/** The keys for a message, cut after 200 characters. */
export function describeKeys(keys: readonly string[]): string {
  const shown = keys.join(", ");
  return shown.length > shownLength ? `${shown.slice(0, shownLength)}…` : shown;
}

const shownLength = 200;
