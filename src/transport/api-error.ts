import {
  ApiError,
  AuthenticationError,
  BadRequestError,
  NotFoundError,
  type Outcome,
  PermissionError,
  RateLimitError,
  ServerError,
} from "../errors.ts";
import { countCharacters } from "../schema/formats.ts";
import { printable, shortened } from "../values/in-words.ts";
import { isObject, isRecord } from "../values/predicates.ts";
import type { Call, PreparedCall } from "./call.ts";
import { retryAfterMs, type RateLimitCandidate, type RateRefusal } from "./rate-refusal.ts";
import type { Redactor } from "./redact.ts";

const shownIdLength = 100;
/** An ordinary validation answer has a message for each of 30 properties. */
const shownMessageLength = 4_000;
const shownBodyStart = 120;
/** The bodies of errors nest less deeply. */
const deepestMessage = 16;

/** The error of a response: with the messages of the service, or the beginning of its body, the wait, and the likely cause. */
export function apiError(
  response: RateLimitCandidate,
  refusal: RateRefusal | undefined,
  { client, context, request, settings }: Call,
): ApiError {
  const { endpoint, params } = request;
  const { status, headers, body } = response;
  const { retryAfterMs: waitMs } = refusal ?? { retryAfterMs: retryAfterMs(headers) };
  const hints: string[] = [];
  if (status === 404 && !refusal && endpoint.idHint)
    hints.push(describeId(String(Object.values(params)[0]), client.redactor), endpoint.idHint);
  if (status === 401) hints.push("is `apiKey` right, and of this service?");
  if (status === 407) hints.push("a proxy asks for credentials of its own");
  if (waitMs) hints.push(`the service asks to wait ${waitMs} ms`);
  const hint = htmlHint(body, headers);
  if (hint) hints.push(hint);
  // A gateway refuses calls with these statuses, for their rate or for another reason, and its body is not JSON.
  if ((status === 403 || status === 503) && typeof body === "string" && !settings.isRateLimited)
    hints.push("a limit may be behind it: see isRateLimited");
  const said = printable(messageOf(body) ?? startOfBody(body));
  const suffix = `${said && `: ${said}`}${hints.length > 0 ? ` (${hints.join("; ")})` : ""}`;
  // A refusal may have any status (`isRateLimited`).
  const ofStatus = errorClasses[status] ?? (status >= 500 ? ServerError : ApiError);
  return new (refusal ? RateLimitError : ofStatus)({
    ...response,
    message: `${status} on ${context.method} ${context.path}${suffix}`,
    outcome: refusal ? "not-applied" : outcomeOfStatus(status, request),
    retryAfterMs: waitMs,
  });
}

/** What the head of a response tells of a write, whatever becomes of its body. */
export function outcomeOfStatus(status: number, { endpoint, sent }: PreparedCall): Outcome {
  const isOk = status >= 200 && status <= 299;
  // After 408 and 5xx a gateway may have forwarded a write.
  const mayHaveWritten =
    isOk || status === 408 || status >= 500 || (status === 404 && endpoint.mayHaveWrittenOn404?.(sent));
  return mayHaveWritten ? "unknown" : "not-applied";
}

const errorClasses: Readonly<Record<number, typeof ApiError>> = {
  400: BadRequestError,
  401: AuthenticationError,
  403: PermissionError,
  404: NotFoundError,
};

/** The id of a 404, as it was given. Of an address only its shape, as messages of errors are logged. */
function describeId(id: string, redactor: Redactor): string {
  const size = `${countCharacters(id)} characters`;
  if (/@|%40/.test(id)) return `the id was an e-mail address of ${size}`;
  if (phoneNumber.test(id.replace(/%[\da-f]{2}/gi, " ")))
    return `the id looks like a phone number, of ${size}`;
  return `the id was "${printable(shortened(redactor.string(id), shownIdLength))}"`;
}

/** Seven digits or more, with a sign that people write before or between them: digits alone are an id. */
const phoneNumber = /^(?!\d+$)(tel:)?[\s+()./-]*(\d[\s()./-]*){7,}$/i;

/**
 * All messages of an error's body, each once. v2 uses `message`; v1's error body is not documented, so the usual properties
 * are tried ("Errors").
 */
export function messageOf(body: unknown): string | undefined {
  const messages = new Set<string>();
  if (isObject(body)) addMessages(messages, body);
  return messages.size > 0 ? shortened([...messages].join("; "), shownMessageLength) : undefined;
}

function addMessages(messages: Set<string>, value: unknown, depth = 0): void {
  if (typeof value === "string" && value.trim() !== "") messages.add(value);
  if (!isObject(value) || depth > deepestMessage) return;
  // Safe: a parsed object may have any property.
  const object = value as Readonly<Record<string, unknown>>;
  const { message, detail, errors, details, error_description, error, title } = object;
  // `errors` may hold arrays by the names of fields.
  const fieldErrors = isRecord(errors) ? Object.values(errors) : errors;
  const properties = [message, detail, fieldErrors, details, error_description, error, title];
  for (const each of Array.isArray(value) ? value : properties) addMessages(messages, each, depth + 1);
}

/** The first characters of a body without a message. */
function startOfBody(body: unknown): string {
  return shortened(typeof body === "string" ? body.trim() : JSON.stringify(body), shownBodyStart);
}

/** The likely cause of a body that is HTML, by itself or by its type; undefined for any other body. */
export function htmlHint(body: unknown, headers: Headers): string | undefined {
  if (typeof body !== "string" || body.trim() === "") return undefined;
  const isHtml =
    /^\s*<(!doctype html|html)\b/i.test(body) || /\bhtml\b/i.test(String(headers.get("content-type")));
  return isHtml ? "HTML: a gateway responded; is the base URL right?" : undefined;
}
