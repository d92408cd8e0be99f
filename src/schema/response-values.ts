// Tolerant decoding of responses: a value of another type counts as missing.
import * as z from "zod";
import { explain, toIssues } from "./validate.ts";

/**
 * A response lacks a value that its decoder needs. The transport turns it into an `UnexpectedResponseError` with
 * status, request and body. The message ends the sentence "200 on GET …, but".
 */
export class UndecodableResponse extends Error {
  override readonly name = "UndecodableResponse";
}

const shownIssues = 3;

/** Returns a response's value unchanged if the schema accepts it, else throws `problem`. */
export function parseResponse<Value>(
  schema: z.ZodType<Value>,
  value: unknown,
  problem = "its body is not what is documented",
): Value {
  const { success, error } = schema.safeParse(value, { error: explain });
  // Safe: the schemas have no transforms.
  if (success) return value as Value;
  const issues = toIssues(error).slice(0, shownIssues);
  const problems = issues.map(({ path, message }) => `${path.join(".") || "the value"}: ${message}`);
  throw new UndecodableResponse(`${problem}: ${problems.join("; ")}`);
}

export type JsonObject = Readonly<Record<string, unknown>>;

/** A count in a response: from 0, as a number or a string of digits. */
export function parseCount(value: unknown): number | undefined {
  const count = typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value;
  return typeof count === "number" && Number.isSafeInteger(count) && count >= 0 ? count : undefined;
}

/**
 * An id in a response, as a string. A damaged id is refused, because it would name another contact: a number that JSON has
 * rounded, half a surrogate pair, or a replacement character for bytes that are not UTF-8 (D24).
 */
export function parseId(value: unknown): string | undefined {
  if (typeof value === "number") return Number.isSafeInteger(value) ? String(value) : undefined;
  return typeof value === "string" && value.trim() !== "" && !damagedText.test(value) ? value : undefined;
}

/** A decoded value. Throws `UndecodableResponse` if there is none. */
export function required<Value>(value: Value | undefined, problem: string): Value {
  if (value === undefined) throw new UndecodableResponse(problem);
  return value;
}

const damagedText = /[\ufffd\p{Surrogate}]/u;

/** The schema of an id in a response: a number becomes a string (D24). */
export const receivedId = z.union([z.string(), z.number()]);

/**
 * A key of a response that the client does not need: typed as documented and not checked, so that a write that
 * succeeded does not fail over it (D30).
 */
export function documented<Value>(type: "string" | "number" | "boolean" | "object") {
  const schema = z.unknown().meta({ anyOf: [{ type }, { type: "null" }] });
  // Safe: the document states this type, and the value is passed on unchecked.
  return (schema as unknown as z.ZodType<Value | null, Value | null>).optional();
}
