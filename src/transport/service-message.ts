// The service's own words, for the message of an error.
import { isObject, isRecord } from "../schema/predicates.ts";

const shownMessageLength = 300;
const shownStartLength = 120;

/**
 * All messages of a body, each once. v2 uses `message`; v1's error body is not documented, so the usual properties are
 * tried ("Errors").
 */
export function messageOf(body: unknown): string | undefined {
  if (!isObject(body)) return undefined;
  const texts = new Set(textsOf(body));
  return texts.size > 0 ? [...texts].join("; ").slice(0, shownMessageLength) : undefined;
}

function textsOf(value: unknown): string[] {
  if (typeof value === "string") return value.trim() === "" ? [] : [value];
  if (Array.isArray(value)) return value.flatMap(textsOf);
  if (!isRecord(value)) return [];
  const { message, detail, title, error, errors } = value;
  // `errors` may hold arrays by the names of fields.
  const reasons = [message, detail, isRecord(errors) ? Object.values(errors) : errors];
  const texts = [...reasons, isObject(error) ? error : []].flatMap(textsOf);
  // As strings these often hold only the name of the status.
  return texts.length > 0 ? texts : [title, error].flatMap(textsOf);
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

/** Control characters, which could move a terminal's cursor or start a log line, and marks of text direction. */
const invisible = /[\p{Cc}\p{Surrogate}\p{Bidi_Control}\u2028\u2029]/gu;

/** Escapes invisible characters, as `\u001b`. */
export function printable(text: string): string {
  return text.replace(invisible, (character) =>
    character === "\n" ? "\\n" : `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
