// Reading what the service answered: tolerant, so a value that is not what it could be is simply not there. A leaf.

export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A count, from 0; also one that is written as text. */
export function readCount(value: unknown): number | undefined {
  const count = typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value;
  return typeof count === "number" && Number.isSafeInteger(count) && count >= 0 ? count : undefined;
}

/** An id as text. A number that JSON has already rounded is none: it would name another contact. */
export function readId(value: unknown): string | undefined {
  if (typeof value === "number") return Number.isSafeInteger(value) ? String(value) : undefined;
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

/** The keys of an answer's value, for a message: `keys data, total`. */
export function describeShape(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (!isJsonObject(value)) return typeof value === "undefined" ? "nothing" : `a ${typeof value}`;
  const keys = Object.keys(value);
  if (keys.length === 0) return "an object without keys";
  const shown = keys
    .slice(0, shownKeys)
    .map((key) => (key.length > shownLength ? `${key.slice(0, shownLength)}…` : key));
  return `an object with the keys ${shown.join(", ")}${keys.length > shownKeys ? ", …" : ""}`;
}

const shownKeys = 20;
const shownLength = 40;
