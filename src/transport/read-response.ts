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
import { printable } from "../printable.ts";
import { countCharacters } from "../schema/formats.ts";
import { UndecodableResponse } from "../schema/response-values.ts";
import type { ApiRequest, ApiResponse, Call, ReceivedResponse } from "./call.ts";
import { findRefusal, retryAfterMs, type RateLimitCandidate, type RateRefusal } from "./rate-refusal.ts";
import { gramLength, type Redactor } from "./redact.ts";
import { htmlHint, messageOf, startOf } from "./service-message.ts";

const shownBodyLength = 64 * 1024;
const shownIdLength = 100;
/** A deeper value takes much memory, and overflows the stack when it is printed. */
const maxDepth = 1_000;

/** Returns a response's value; throws a `RedirectError`, an `ApiError` or an `UnexpectedResponseError`. */
export function readResponse(response: ReceivedResponse, call: Call): ApiResponse {
  const { request, settings } = call;
  const { redactor } = call.client;
  const { isOk, status } = response;
  if (!isOk || settings.isRateLimited) {
    const shown = {
      status,
      headers: redactor.headers(response.headers),
      body: shownBody(response, redactor),
    };
    const refusal = findRefusal(shown, settings.isRateLimited);
    // 0 is a browser's status for a redirect that is not followed.
    if (!refusal && !isOk && status <= 399)
      throw new RedirectError({
        message: `${status} on ${request.method} ${request.path}: a redirect is never followed. Is the base URL right?`,
        status,
        location: shown.headers.get("location") ?? undefined,
      });
    if (refusal || !isOk) throw apiError(shown, refusal, call);
  }
  return { data: parseValue(response, request, redactor), response };
}

function parseValue(response: ReceivedResponse, request: ApiRequest, redactor: Redactor): unknown {
  const { status, headers, text } = response;
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
  const body = parseJson(text);
  // A blank body is none: it breaks off nowhere.
  const contentType = text.trim() === "" ? "" : String(headers.get("content-type"));
  if (body === undefined && !request.acceptsText?.(contentType)) {
    if (isTooDeep(text)) throw unexpected(`its body is nested deeper than ${maxDepth} levels.`);
    const hint = htmlHint(text);
    const problem = text === "" ? "is empty" : `is not JSON${hint ? ` (${hint})` : ""}`;
    throw unexpected(`its body ${problem}.`);
  }
  try {
    return request.decode({ status, headers, body: body === undefined ? text || undefined : body.value });
  } catch (error) {
    /* v8 ignore next -- @preserve a defect of our own */
    if (!(error instanceof UndecodableResponse)) throw error;
    const said = messageOf(body?.value);
    throw unexpected(
      said === undefined ? error.message : `${error.message.replace(/\.$/, "")}; the service says: ${said}`,
    );
  }
}

/** With the messages of the service, or the beginning of its body, the wait, and the likely cause. */
function apiError(
  shown: RateLimitCandidate,
  refusal: RateRefusal | undefined,
  { client, request, settings }: Call,
): ApiError {
  const { status, headers, body } = shown;
  const { retryAfterMs: waitMs } = refusal ?? { retryAfterMs: retryAfterMs(headers) };
  const hints: string[] = [];
  if (status === 404 && !refusal && request.pathId)
    hints.push(describeId(request.pathId.id, client.redactor), request.pathId.hint);
  if (status === 401) hints.push("is `apiKey` right, and of this service?");
  if (status === 407) hints.push("a proxy asks for credentials of its own");
  if (waitMs) hints.push(`the service asks to wait ${waitMs} ms`);
  const hint = htmlHint(body);
  if (hint) hints.push(hint);
  // A gateway refuses calls with these statuses, for their rate or for another reason, and its body is not JSON.
  if ((status === 403 || status === 503) && typeof body === "string" && !settings.isRateLimited)
    hints.push("a limit may be behind it: see isRateLimited");
  const text = printable(messageOf(body) ?? startOf(body));
  const suffix = `${text && `: ${text}`}${hints.length > 0 ? ` (${hints.join("; ")})` : ""}`;
  return new (refusal ? RateLimitError : apiErrorClass(status))({
    ...shown,
    message: `${status} on ${request.method} ${request.path}${suffix}`,
    outcome: refusal ? "not-applied" : outcomeOf(status, request.mayHaveWrittenOn404),
    retryAfterMs: waitMs,
  });
}

const classes: Readonly<Record<number, typeof ApiError>> = {
  400: BadRequestError,
  401: AuthenticationError,
  403: PermissionError,
  404: NotFoundError,
};

/** The class for an error status, but for refusals: they may have any status (`isRateLimited`). */
function apiErrorClass(status: number): typeof ApiError {
  return classes[status] ?? (status >= 500 ? ServerError : ApiError);
}

/** The id that was given. Of an address only its shape, as messages are logged. */
function describeId(id: string, redactor: Redactor): string {
  const size = `${countCharacters(id)} characters`;
  if (/@|%40/.test(id)) return `the id was an e-mail address of ${size}`;
  if (phoneNumber.test(id.replace(/%[\da-f]{2}/gi, " ")))
    return `the id looks like a phone number, of ${size}`;
  const shown = redactor.string(id);
  const isCut = shown.length > shownIdLength;
  return `the id was "${printable(shown.slice(0, shownIdLength))}${isCut ? "…" : ""}"`;
}

/** Seven digits or more, with a sign that people write before or between them: digits alone are an id. */
const phoneNumber = /^(?!\d+$)(tel:)?[\s+()./-]*(\d[\s()./-]*){7,}$/i;

/** The outcome of a write by its error status: after 408 and 5xx a gateway may have forwarded it. */
function outcomeOf(status: number, mayHaveWrittenOn404: boolean): Outcome {
  if (status === 408 || status >= 500) return "unknown";
  return status === 404 && mayHaveWrittenOn404 ? "unknown" : "not-applied";
}

/** The body in an error: parsed JSON, else the text, at most 64 KiB, without keys. */
function shownBody({ text, limitPassed, failure }: ReceivedResponse, redactor: Redactor): unknown {
  const isWhole = limitPassed === undefined && failure === undefined && text.length <= shownBodyLength;
  const json = isWhole ? parseJson(text) : undefined;
  if (json) return redactor.json(json.value);
  // Only the shown part is searched, and the few characters after it that a key could extend into.
  return redactor.string(text.slice(0, shownBodyLength + gramLength)).slice(0, shownBodyLength);
}

function parseJson(text: string): { value: unknown } | undefined {
  if (isTooDeep(text)) return undefined;
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

/** One pass, because a regular expression would take quadratic time on an unterminated string. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  // Brackets inside a string do not count.
  let isInString = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') isInString = !isInString;
    else if (isInString) at += character === "\\" ? 1 : 0;
    else if (character === "[" || character === "{") {
      if (++depth > maxDepth) return true;
    } else if (character === "]" || character === "}") depth--;
  }
  return false;
}
