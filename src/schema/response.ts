// Decoding what the service responded: tolerant, so a value that is not what it could be is simply not there.
import type * as z from "zod";
import { explain, toIssues } from "./issues.ts";
import { isRecord, kindOf } from "./kind-of.ts";

/**
 * An answer lacks what its reader needs. A leaf: it knows neither status nor request, so the transport turns it into
 * an `UnexpectedResponseError` that holds both, and the body. The message ends the sentence "200 on GET …, but".
 */
export class UndecodableResponse extends Error {
  override readonly name = "UnreadableAnswer";
}

const shownIssues = 3;

/** A response's body as it came, once its schema has found in it what is needed. */
export function parseResponse<Value>(schema: z.ZodType<Value>, body: unknown): Value {
  const { error } = schema.safeParse(body, { error: explain });
  // Safe: the schemas have no transforms.
  if (!error) return body as Value;
  const issues = toIssues(error).slice(0, shownIssues);
  const problems = issues.map(({ path, message }) => `${path.join(".") || "the body"}: ${message}`);
  throw new UndecodableResponse(`its body is not what is documented: ${problems.join("; ")}`);
}

export type JsonObject = Readonly<Record<string, unknown>>;

/** A count, from 0; also one that is written as text. */
export function parseCount(value: unknown): number | undefined {
  const count = typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value;
  return typeof count === "number" && Number.isSafeInteger(count) && count >= 0 ? count : undefined;
}

/**
 * An id as text. One that did not come whole is none, as it would name another contact: a number that JSON has already
 * rounded, half a character, or a character that stands for bytes that are no UTF-8 (D24).
 */
export function parseId(value: unknown): string | undefined {
  if (typeof value === "number") return Number.isSafeInteger(value) ? String(value) : undefined;
  return typeof value === "string" && value.trim() !== "" && !notWhole.test(value) ? value : undefined;
}

const notWhole = /[\ufffd\p{Surrogate}]/u;

/** The keys of an answer's value, for a message: `keys data, total`. */
export function describeShape(value: unknown): string {
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (!isRecord(value)) return value === undefined ? "nothing" : kindOf(value);
  const keys = Object.keys(value);
  if (keys.length === 0) return "an object without keys";
  return `an object with the keys ${describeKeys(keys)}`;
}

/** Cut short, as an answer may hold any number of them, of any length. */
export function describeKeys(keys: readonly string[]): string {
  const shown = keys.join(", ");
  return shown.length > shownLength ? `${shown.slice(0, shownLength)}…` : shown;
}

const shownLength = 200;
