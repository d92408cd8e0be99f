import ky from "ky";
import { ConfigurationError, TimeoutError } from "../errors.ts";
import { hasMethods, isObject } from "../schema/kind-of.ts";
import { startTimer, untilAborted } from "./abort.ts";
import { connectionError, isUndecodable } from "./network-error.ts";
import type { Redactor } from "./redact.ts";

/** `fetch`, or what behaves like it: a proxy's, a test's. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface OutgoingRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
}

/** What comes before the body of a response. */
export type ResponseHead = Pick<Response, "status" | "headers">;

/** A response, read to its end or to the limit of its size. */
export interface ReceivedResponse extends ResponseHead, BodyText {
  readonly url: string;
}

export interface SendOptions {
  readonly fetch: Fetch | undefined;
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
  /** Aborted, with an error of ours, when nobody waits for the response any more. */
  readonly signal: AbortSignal;
  /** Told of a response before its body is read. */
  readonly onHead: (head: ResponseHead) => void;
  readonly redactor: Redactor;
}

/** How long an aborted request may go on, so that its response is known to the rate limit and the order of writes. */
const lingerMs = 2_000;
const errorBodyBytes = 64 * 1024;
const chunksPerTick = 1_000;

export function isOk({ status }: { status: number }): boolean {
  return status >= 200 && status <= 299;
}

/** Sends one request and reads its response. Rejects with a `ConnectionError` or `TimeoutError`, or the signal's reason. */
export async function send(request: OutgoingRequest, options: SendOptions): Promise<ReceivedResponse> {
  const { signal, timeoutMs, maxResponseBytes: maxBytes } = options;
  const controller = new AbortController();
  const arrival: Arrival = { bytes: 0 };
  const timeout = startTimer(() => controller.abort(timeoutError(timeoutMs, arrival)), timeoutMs);
  let linger: ReturnType<typeof setTimeout> | undefined;
  const stop = () => controller.abort(signal.reason);
  const onAbort = () => {
    if (arrival.status === undefined) linger = setTimeout(stop, lingerMs);
    else stop();
  };
  signal.addEventListener("abort", onAbort);
  try {
    const response = await fetchResponse(request, options.fetch, controller.signal);
    const { status, url } = response;
    // One of another implementation is no instance of the global class.
    const headers = new Headers();
    response.headers.forEach((value, name) => headers.append(name, value));
    arrival.status = status;
    options.onHead({ status, headers });
    if (signal.aborted) stop();
    const body = await readBody(response, { maxBytes, signal: controller.signal, arrival });
    // An error's status is known, whatever became of its body.
    const isCut = body.failure !== undefined && !isUndecodable(body.failure);
    if (isOk(response) && isCut) throw new Error("the body broke off", { cause: body.failure });
    return { status, headers, url: typeof url === "string" && url !== "" ? url : request.url, ...body };
  } catch (error) {
    if (controller.signal.aborted) throw controller.signal.reason;
    if (error === noResponse) throw noResponseError();
    throw connectionError(error, request.url, options.redactor);
  } finally {
    clearTimeout(timeout);
    clearTimeout(linger);
    signal.removeEventListener("abort", onAbort);
  }
}

/** A fetch that ignores its signal must not hold the call; a response that comes too late is thrown away. */
async function fetchResponse(
  { method, url, headers, body }: OutgoingRequest,
  fetch: Fetch | undefined,
  signal: AbortSignal,
): Promise<Response> {
  const pending = ky(url, {
    method,
    headers,
    ...(body !== undefined && singleUseBody(body)),
    signal,
    redirect: "manual",
    retry: 0,
    throwHttpErrors: false,
    timeout: false,
    ...(fetch && { fetch: callerFetch(fetch, { url, body, signal }) }),
  }).then((response) => {
    if (signal.aborted) cancelBody(response.body);
    return response;
  });
  return await untilAborted(pending, signal);
}

/**
 * The caller's fetch takes (url, init), as not every fetch takes the `Request` of another implementation; the body as a
 * string, as a `Request` gives it as a stream alone.
 */
function callerFetch(
  fetch: Fetch,
  { url, body, signal }: { url: string; body: string | undefined; signal: AbortSignal },
) {
  return async (input: string | URL | Request): Promise<Response> => {
    // Safe: ky hands on the Request that it has made.
    const { method, headers } = input as Request;
    const init: RequestInit = {
      method,
      headers: Object.fromEntries(headers),
      redirect: "manual",
      signal,
      ...(body !== undefined && { body }),
    };
    const response: unknown = await fetch(url, init);
    if (!isResponse(response)) throw noResponse;
    if (response.type === "error") throw new TypeError("the fetch option returned Response.error()");
    return response;
  };
}

/** By what is asked of it: a Response of another implementation is no instance of the global class. */
function isResponse(value: unknown): value is Response {
  if (!isObject(value)) return false;
  // Safe: each may be of any kind, or missing.
  const { status, headers, body } = value as Record<string, unknown>;
  // 0 is a browser's for a redirect that it was told not to follow; no other response has a status below 200.
  const hasStatus = status === 0 || (Number.isInteger(status) && Number(status) >= 200);
  const hasBody = body === undefined || body === null || hasMethods(body, "getReader");
  return hasStatus && hasBody && hasMethods(headers, "get", "forEach");
}

/** Thrown where a fetch of the caller's gives none. */
const noResponse = new Error("no Response");

function noResponseError(): ConfigurationError {
  const error = new ConfigurationError("The fetch option must return a Response whose body is a web stream.");
  // Whatever the function did, the request may have left.
  return Object.assign(error, { outcome: "unknown" });
}

/**
 * A body that the runtime sends once. When a kept connection ends before the response, Deno's own fetch sends the request
 * again, whatever its method, and tells nobody: what must not be done twice would be. A stream it cannot send again.
 * Elsewhere the text goes out as it is, with its length.
 */
function singleUseBody(body: string): { body: string | ReadableStream } {
  if (!("Deno" in globalThis)) return { body };
  // Of a Response's stream Deno still knows the text.
  const stream = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(body));
      controller.close();
    },
  });
  return { body: stream };
}

interface BodyText {
  readonly text: string;
  /** The limit in bytes that the body went past, and where it was cut; absent where it came whole. */
  readonly limitPassed?: number | undefined;
  /** Why the body broke off; the text is what came before. */
  readonly failure?: unknown;
}

/** What has come of a response so far. */
interface Arrival {
  status?: number;
  /** Of the body, after decompression. */
  bytes: number;
}

/** Reads a body as it is decompressed, and never more of it than the limit; an error's, 64 KiB at most. */
async function readBody(
  response: Response,
  { maxBytes, signal, arrival }: { maxBytes: number; signal: AbortSignal; arrival: Arrival },
): Promise<BodyText> {
  if (!response.body) return { text: "" };
  const limit = isOk(response) ? maxBytes : Math.min(maxBytes, errorBodyBytes);
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (let chunks = 1; ; chunks++) {
      // Pieces that are all there already would let no timer run, not even that of the call's timeout.
      if (chunks % chunksPerTick === 0) await new Promise((resolve) => void setTimeout(resolve));
      // A reader that is none of the runtime's may ignore that it is given up.
      const next = await untilAborted(reader.read(), signal);
      if (next.done) return { text: text + decoder.decode() };
      const remaining = limit - arrival.bytes;
      arrival.bytes += next.value.byteLength;
      text += decoder.decode(next.value.subarray(0, remaining), { stream: true });
      if (arrival.bytes > limit) return { text, limitPassed: limit };
    }
  } catch (error) {
    // A stream may break without a reason.
    return { text, failure: error ?? new Error("no reason was given") };
  } finally {
    cancelBody(reader);
  }
}

/** Lets what is left of a body go. Nobody waits for it, and where that fails nothing is lost. */
function cancelBody(body: { cancel(): Promise<void> } | null): void {
  void (async () => await body?.cancel())().catch(() => undefined);
}

function timeoutError(timeoutMs: number, { status, bytes }: Arrival): TimeoutError {
  const received = status === undefined ? "no headers" : `${status} and ${bytes} bytes of its body`;
  return new TimeoutError({
    message: `No complete response within timeoutMs (${timeoutMs} ms): ${received} received.`,
    outcome: "unknown",
    timeoutMs,
  });
}
