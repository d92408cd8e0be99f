import type { Endpoint } from "../endpoint.ts";
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
import { isOk } from "./answer-head.ts";
import { isNestedDeeper } from "./json-depth.ts";
import { printable } from "./printable.ts";
import { gramLength, type Redactor } from "./redact.ts";
import { retryAfterMs } from "./retry-after.ts";
import type { Exchange } from "./send.ts";

const shownBodyLength = 64 * 1024;
const shownMessageLength = 300;
const shownDepth = 500;
/** As deep as what is sent may be (D16). */
const readDepth = 1_000;

/** An answer's value; or a `RedirectError`, an `ApiError`, or an `UnexpectedResponseError`. */
export function decode<Body, Output>(
  exchange: Exchange,
  endpoint: Endpoint<Body, Output>,
  sent: Body,
  redactor: Redactor,
): Output {
  const { status } = exchange;
  if (isOk(exchange)) return readValue(exchange, endpoint, sent, redactor);
  // 0 is what a browser makes of a redirect that it was told not to follow; others below 200 are no answers.
  if (status <= 399) throw redirectError(exchange, endpoint, redactor);
  throw apiError(exchange, endpoint, redactor);
}

function readValue<Body, Output>(
  exchange: Exchange,
  endpoint: Endpoint<Body, Output>,
  sent: Body,
  redactor: Redactor,
): Output {
  const { status, text } = exchange;
  const unexpected = (problem: string) =>
    new UnexpectedResponseError({
      message: `${status} on ${endpoint.method} ${endpoint.path}, but ${printable(redactor.text(problem))}`,
      outcome: "unknown",
      status,
      body: shownBody(exchange, redactor),
    });
  if (exchange.limitPassed !== undefined) {
    throw unexpected(`its body is larger than maxResponseBytes (${exchange.limitPassed} bytes).`);
  }
  if (exchange.failure !== undefined) throw unexpected("its body cannot be decompressed.");
  // Parsed, each level takes a hundred times its byte, and whoever prints or copies the value overflows the stack.
  const isTooDeep = isNestedDeeper(text, readDepth);
  const body = isTooDeep ? undefined : parseJson(text);
  if (body === undefined && !endpoint.acceptsAnyResponse) {
    if (isTooDeep) throw unexpected(`its body is nested deeper than ${readDepth} levels.`);
    throw unexpected(text === "" ? "its body is empty." : "its body is not JSON.");
  }
  try {
    return endpoint.decode({ status, body: body === undefined ? text || undefined : body.value }, sent);
  } catch (error) {
    /* v8 ignore next -- @preserve a defect of our own */
    if (!(error instanceof UndecodableResponse)) throw error;
    throw unexpected(error.message);
  }
}

function redirectError<Body>(
  exchange: Exchange,
  endpoint: Endpoint<Body, unknown>,
  redactor: Redactor,
): RedirectError {
  const location = exchange.headers.get("location") ?? undefined;
  return new RedirectError({
    message: `${exchange.status} on ${endpoint.method} ${endpoint.path}: a redirect is never followed. Is the base URL right?`,
    status: exchange.status,
    location: location && redactor.text(location),
  });
}

function apiError<Body>(exchange: Exchange, endpoint: Endpoint<Body, unknown>, redactor: Redactor): ApiError {
  const { status } = exchange;
  const body = shownBody(exchange, redactor);
  const words = printable(messageOf(body) ?? "");
  const askedMs = retryAfterMs(exchange.headers);
  const wish = askedMs ? ` (the service asks to wait ${askedMs} ms)` : "";
  return new (classOf(status))({
    message: `${status} on ${endpoint.method} ${endpoint.path}${words ? `: ${words}` : ""}${wish}`,
    outcome: outcomeOf(status, endpoint.mayHaveWrittenOn404 === true),
    status,
    headers: redactor.headers(exchange.headers),
    body,
    retryAfterMs: askedMs,
  });
}

/** What an error status says of a write: 408 and 5xx come from a server, or a gateway, that may have passed it on. */
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

/** The body as an error shows it: parsed JSON, else the text, at most 64 KiB, without keys. */
function shownBody({ text, limitPassed, failure }: Exchange, redactor: Redactor): unknown {
  const isWhole = limitPassed === undefined && failure === undefined && text.length <= shownBodyLength;
  // What is nested deeper would overflow the stack of whoever logs the error.
  const json = isWhole && !isNestedDeeper(text, shownDepth) ? parseJson(text) : undefined;
  if (json) return redactor.json(json.value);
  // Of ten megabytes only what is shown is searched; a little more, for a stretch of a key that begins inside it.
  return redactor.text(text.slice(0, shownBodyLength + gramLength)).slice(0, shownBodyLength);
}

function parseJson(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

/** v2 says `message`; v1's error body is not documented, so the usual places are looked at ("Errors"). */
function messageOf(body: unknown): string | undefined {
  if (!isObject(body)) return undefined;
  const { message, error, errors, detail } = body as Record<string, unknown>;
  // Of any kind, as it is the service's.
  const candidates: unknown[] = [message, detail, error, errors].flat();
  const nested = candidates.filter(isObject).flatMap((each) => {
    const inner = each as Record<string, unknown>;
    return [inner["message"], inner["detail"], inner["title"]];
  });
  const found = [...candidates, ...nested].find((text) => typeof text === "string" && text !== "");
  return (found as string | undefined)?.slice(0, shownMessageLength);
}
