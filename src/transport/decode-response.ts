import { RedirectError, UnexpectedResponseError } from "../errors.ts";
import { UndecodableResponse } from "../schema/response-values.ts";
import { printable } from "../values/in-words.ts";
import { apiError, htmlHint, messageOf } from "./api-error.ts";
import type { ApiResponse, Call, ReceivedResponse } from "./call.ts";
import { findRefusal } from "./rate-refusal.ts";
import { gramLength, type Redactor } from "./redact.ts";

const shownBodyLength = 64 * 1024;
/** A deeper JSON value takes much memory, and overflows the stack when it is printed. */
const maxJsonDepth = 1_000;
/** The bytes of an empty body in each encoding. */
const emptyBytes: Readonly<Record<string, number>> = { br: 1, deflate: 8, gzip: 20 };

/** Returns a response's value; throws a `RedirectError`, an `ApiError` or an `UnexpectedResponseError`. */
export function decodeResponse(received: ReceivedResponse, call: Call): ApiResponse {
  const { context, settings } = call;
  const { redactor } = call.client;
  const { isOk, status, headers, url } = received;
  if (!isOk || settings.isRateLimited) {
    const shownResponse = { status, headers: redactor.headers(headers), body: shownBody(received, redactor) };
    const refusal = findRefusal(shownResponse, settings.isRateLimited);
    // 0 is a browser's status for a redirect that is not followed.
    if (!refusal && !isOk && status <= 399)
      throw new RedirectError({
        message: `${status} on ${context.method} ${context.path}: a redirect is never followed. Is the base URL right?`,
        status,
        location: shownResponse.headers.get("location") ?? undefined,
      });
    if (refusal || !isOk) throw apiError(shownResponse, refusal, call);
  }
  return { data: decodeValue(received, call), response: { status, headers, url } };
}

function decodeValue(received: ReceivedResponse, { client, context, request }: Call): unknown {
  const { redactor } = client;
  const { status, headers, text } = received;
  const unexpected = (problem: string) =>
    new UnexpectedResponseError({
      message: `${status} on ${context.method} ${context.path}, but ${printable(redactor.string(problem))}`,
      outcome: "unknown",
      status,
      body: shownBody(received, redactor),
    });
  if (received.limitPassed !== undefined) {
    throw unexpected(`its body is larger than maxResponseBytes (${received.limitPassed} bytes).`);
  }
  if (received.failure !== undefined || isCut(received)) throw unexpected("its body cannot be decompressed.");
  const body = parseJson(text);
  // A blank body is none: it breaks off nowhere.
  const contentType = text.trim() === "" ? "" : String(headers.get("content-type"));
  if (body === undefined && !request.endpoint.acceptsText?.(contentType)) {
    if (isJsonTooDeep(text)) throw unexpected(`its body is nested deeper than ${maxJsonDepth} levels.`);
    const hint = htmlHint(text, headers);
    const problem = text === "" ? "is empty" : `is not JSON${hint ? ` (${hint})` : ""}`;
    throw unexpected(`its body ${problem}.`);
  }
  try {
    const parsed = { status, headers, body: body === undefined ? text || undefined : body.value };
    return request.endpoint.decode(parsed, request.sent);
  } catch (error) {
    /* v8 ignore next -- @preserve a defect of our own */
    if (!(error instanceof UndecodableResponse)) throw error;
    const said = messageOf(body?.value);
    throw unexpected(
      said === undefined ? error.message : `${error.message.replace(/\.$/, "")}; the service says: ${said}`,
    );
  }
}

/** Whether a compressed body was cut before its first character: Node's fetch takes such an end for that of an empty body. */
function isCut({ text, headers }: ReceivedResponse): boolean {
  const encoding = headers.get("content-encoding");
  const length = Number(headers.get("content-length"));
  return text === "" && encoding !== null && length > 0 && length !== emptyBytes[encoding];
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
  if (isJsonTooDeep(text)) return undefined;
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

/** Reads the JSON in one pass, because a regular expression would take quadratic time on an unterminated string. */
function isJsonTooDeep(text: string): boolean {
  let depth = 0;
  // Brackets inside a string of the JSON do not count.
  let isInString = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') isInString = !isInString;
    else if (isInString) at += character === "\\" ? 1 : 0;
    else if (character === "[" || character === "{") {
      if (++depth > maxJsonDepth) return true;
    } else if (character === "]" || character === "}") depth--;
  }
  return false;
}
