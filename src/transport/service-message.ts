// The service's own words, for the message of an error.
import { isObject, isRecord } from "../values/predicates.ts";

const shownMessageLength = 300;
const shownStartLength = 120;

/** Error bodies nest less deeply. */
const deepestMessage = 16;

/**
 * All messages of a body, each once. v2 uses `message`; v1's error body is not documented, so the usual properties are
 * tried ("Errors"). Each value is visited once, and none once the message is full: a body may be made to cost time.
 */
export function messageOf(body: unknown): string | undefined {
  if (!isObject(body)) return undefined;
  const texts = new Set<string>();
  let length = 0;
  for (const text of textsIn(body)) {
    if (!texts.has(text)) length += text.length;
    texts.add(text);
    if (length >= shownMessageLength) break;
  }
  return texts.size > 0 ? [...texts].join("; ").slice(0, shownMessageLength) : undefined;
}

/** Returns whether it gave a text. */
function* textsIn(value: unknown, depth = 0): Generator<string, boolean> {
  if (typeof value === "string" && value.trim() !== "") {
    yield value;
    return true;
  }
  if (!isObject(value) || depth > deepestMessage) return false;
  if (Array.isArray(value)) return yield* textsOf(value, depth + 1);
  // Safe: a parsed object may have any property.
  const { message, detail, title, error, errors } = value as Readonly<Record<string, unknown>>;
  // As strings these often hold only the name of the status.
  const names = isObject(error) ? [title] : [title, error];
  // `errors` may hold arrays by the names of fields.
  const reasons = [message, detail, isRecord(errors) ? Object.values(errors) : errors];
  if (isObject(error)) reasons.push(error);
  return (yield* textsOf(reasons, depth + 1)) || (yield* textsOf(names, depth + 1));
}

function* textsOf(values: readonly unknown[], depth: number): Generator<string, boolean> {
  let isFound = false;
  for (const value of values) if (yield* textsIn(value, depth)) isFound = true;
  return isFound;
}

/** The first characters of a body without a message. */
export function startOf(body: unknown): string {
  const text = typeof body === "string" ? body.trim() : JSON.stringify(body);
  return text.length > shownStartLength ? `${text.slice(0, shownStartLength)}…` : text;
}

/** The likely cause of a body that is HTML; undefined for any other body. */
export function htmlHint(body: unknown): string | undefined {
  const isHtml = typeof body === "string" && /^\s*<(!doctype html|html)\b/i.test(body);
  return isHtml ? "HTML: a gateway responded; is the base URL right?" : undefined;
}
