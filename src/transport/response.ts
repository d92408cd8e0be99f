import {
  ApiError,
  AuthenticationError,
  BadRequestError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  RedirectError,
  ServerError,
  UnexpectedResponseError,
  type Outcome,
} from "../errors.ts";
import { isObject } from "../schema/kind-of.ts";
import { UndecodableResponse } from "../schema/response.ts";
import { gramLength, type Redactor } from "./redact.ts";
import type { ApiRequest } from "./request.ts";
import { isOk, type ReceivedResponse } from "./send.ts";

/** A successful response and its decoded value. */
export interface ApiResponse {
  readonly data: unknown;
  readonly response: ReceivedResponse;
}

const shownBodyLength = 64 * 1024;
const shownMessageLength = 300;
const shownDepth = 500;
/** The same depth as for inputs (D16). */
const maxDepth = 1_000;

/** Returns a response's value; throws a `RedirectError`, an `ApiError` or an `UnexpectedResponseError`. */
export function readResponse(
  response: ReceivedResponse,
  request: ApiRequest,
  redactor: Redactor,
): ApiResponse {
  if (isOk(response)) return { data: parseValue(response, request, redactor), response };
  // 0 is a browser's status for a redirect that is not followed.
  if (response.status <= 399) throw redirectError(response, request, redactor);
  throw apiError(response, request, redactor);
}

function parseValue(response: ReceivedResponse, request: ApiRequest, redactor: Redactor): unknown {
  const { status, text } = response;
  const unexpected = (problem: string) =>
    new UnexpectedResponseError({
      message: `${status} on ${request.method} ${request.path}, but ${printable(redactor.string(problem))}`,
      outcome: "unknown",
      status,
      body: shownBody(response, redactor),
    });
  if (response.limitPassed !== undefined) {
    throw unexpected(`its body is larger than maxResponseBytes (${response.limitPassed} bytes).`);
  }
  if (response.failure !== undefined) throw unexpected("its body cannot be decompressed.");
  // A deeper value takes much memory, and overflows the stack when it is printed or copied.
  const isTooDeep = isNestedDeeper(text, maxDepth);
  const body = isTooDeep ? undefined : parseJson(text);
  if (body === undefined && !request.acceptsAnyResponse) {
    if (isTooDeep) throw unexpected(`its body is nested deeper than ${maxDepth} levels.`);
    throw unexpected(text === "" ? "its body is empty." : "its body is not JSON.");
  }
  try {
    return request.decode({ status, body: body === undefined ? text || undefined : body.value });
  } catch (error) {
    /* v8 ignore next -- @preserve a defect of our own */
    if (!(error instanceof UndecodableResponse)) throw error;
    throw unexpected(error.message);
  }
}

function redirectError(
  { status, headers }: ReceivedResponse,
  { method, path }: ApiRequest,
  redactor: Redactor,
): RedirectError {
  const location = headers.get("location") ?? undefined;
  return new RedirectError({
    message: `${status} on ${method} ${path}: a redirect is never followed. Is the base URL right?`,
    status,
    location: location && redactor.string(location),
  });
}

function apiError(response: ReceivedResponse, request: ApiRequest, redactor: Redactor): ApiError {
  const { status, headers } = response;
  const body = shownBody(response, redactor);
  const serviceMessage = printable(messageOf(body) ?? "");
  const requestedMs = retryAfterMs(headers);
  const retryHint = requestedMs ? ` (the service asks to wait ${requestedMs} ms)` : "";
  return new (classOf(status))({
    message: `${status} on ${request.method} ${request.path}${serviceMessage ? `: ${serviceMessage}` : ""}${retryHint}`,
    outcome: outcomeOf(status, request.mayHaveWrittenOn404),
    status,
    headers: redactor.headers(headers),
    body,
    retryAfterMs: requestedMs,
  });
}

/** The outcome of a write by its error status: after 408 and 5xx a gateway may have forwarded it. */
function outcomeOf(status: number, mayHaveWrittenOn404: boolean): Outcome {
  if (status === 408 || status >= 500) return "unknown";
  return status === 404 && mayHaveWrittenOn404 ? "unknown" : "not-applied";
}

function classOf(status: number): typeof ApiError {
  return classes[status] ?? (status >= 500 ? ServerError : ApiError);
}

const classes: Readonly<Record<number, typeof ApiError>> = {
  400: BadRequestError,
  401: AuthenticationError,
  403: PermissionError,
  404: NotFoundError,
  429: RateLimitError,
};

/** The body in an error: parsed JSON, else the text, at most 64 KiB, without keys. */
function shownBody({ text, limitPassed, failure }: ReceivedResponse, redactor: Redactor): unknown {
  const isWhole = limitPassed === undefined && failure === undefined && text.length <= shownBodyLength;
  // Logging a deeper value would overflow the stack.
  const json = isWhole && !isNestedDeeper(text, shownDepth) ? parseJson(text) : undefined;
  if (json) return redactor.json(json.value);
  // Only the shown part is searched, and the few characters after it that a key could extend into.
  return redactor.string(text.slice(0, shownBodyLength + gramLength)).slice(0, shownBodyLength);
}

function parseJson(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

/** v2 uses `message`; v1's error body is not documented, so the usual properties are tried ("Errors"). */
function messageOf(body: unknown): string | undefined {
  if (!isObject(body)) return undefined;
  const { message, error, errors, detail } = body as Record<string, unknown>;
  // Safe: each is unknown.
  const candidates: unknown[] = [message, detail, error, errors].flat();
  const nested = candidates.filter(isObject).flatMap((each) => {
    const inner = each as Record<string, unknown>;
    return [inner["message"], inner["detail"], inner["title"]];
  });
  return [...candidates, ...nested]
    .find((text): text is string => typeof text === "string" && text !== "")
    ?.slice(0, shownMessageLength);
}

/** Control characters, which could move a terminal's cursor or start a log line, and marks of text direction. */
const invisible = /[\p{Cc}\p{Surrogate}\p{Bidi_Control}\u2028\u2029]/gu;

/** A string of the service for an error's message: invisible characters are escaped, as `\u001b`. */
function printable(text: string): string {
  return text.replace(invisible, (character) =>
    character === "\n" ? "\\n" : `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/**
 * Whether the arrays and objects of a JSON text are nested deeper than `levels`. One pass, because a regular expression
 * would take quadratic time on an unterminated string.
 */
function isNestedDeeper(text: string, levels: number): boolean {
  let depth = 0;
  // Brackets inside a string do not count.
  let isInString = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') isInString = !isInString;
    else if (isInString) at += character === "\\" ? 1 : 0;
    else if (character === "[" || character === "{") {
      if (++depth > levels) return true;
    } else if (character === "]" || character === "}") depth--;
  }
  return false;
}

const longestMs = Number.MAX_SAFE_INTEGER;

/** The three date formats of HTTP, and ISO 8601: `Date.parse` alone accepts any number as a year. */
const date = /^((mon|tue|wed|thu|fri|sat|sun)[a-z]*,? |\d{4}-\d\d-\d\dT)/i;
const hasZone = /(GMT|UTC?|Z|[+-]\d\d:?\d\d)$/i;

/**
 * `Retry-After` in milliseconds, rounded up; undefined if it is missing or invalid. A date is compared with the response's
 * `Date` header if there is one: the local clock may be wrong.
 */
export function retryAfterMs(headers: Headers): number | undefined {
  const value = headers.get("retry-after") ?? "";
  if (/^\d+(\.\d+)?(e\d+)?$/i.test(value)) return Math.min(Math.ceil(Number(value) * 1_000), longestMs);
  const until = parseDate(value);
  if (until === undefined) return undefined;
  return Math.max(0, until - (parseDate(headers.get("date") ?? "") ?? Date.now()));
}

function parseDate(value: string): number | undefined {
  if (!date.test(value)) return undefined;
  // HTTP dates are UTC, also in the format without a zone.
  const time = Date.parse(hasZone.test(value) ? value : `${value} GMT`);
  return Number.isNaN(time) ? undefined : time;
}
