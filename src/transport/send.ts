import ky from "ky";
import { ConfigurationError, TimeoutError } from "../errors.ts";
import { startTimer, untilAborted } from "./abort.ts";
import type { Fetch, FetchInit } from "./fetch.ts";
import type { BodyText, ReceivedResponse, RequestContext } from "./interceptor.ts";
import { connectionError, isUndecodable } from "./network-error.ts";

/** How long an aborted request may continue, so that its response reaches the rate limit and the order of writes. */
const backgroundMs = 2_000;
/** An error needs no more of its body. */
const errorBodyBytes = 64 * 1024;
const chunksPerTick = 1_000;

/** Sends one request and reads its response. Rejects with a `ConnectionError` or `TimeoutError`, or the signal's reason. */
export async function send(context: RequestContext): Promise<ReceivedResponse> {
  const { access, client, request, settings } = context;
  const { signal } = context.abort;
  const { timeoutMs } = context.options;
  const url = access.baseUrl + request.target;
  const controller = new AbortController();
  let hasHead = false;
  const timeout = startTimer(() => {
    const received = hasHead ? "not its whole body" : "no headers";
    const message = `No complete response within timeoutMs (${timeoutMs} ms): ${received} received.`;
    controller.abort(new TimeoutError({ message, outcome: "unknown", timeoutMs }));
  }, timeoutMs);
  let backgroundTimer: ReturnType<typeof setTimeout> | undefined;
  const stop = () => controller.abort(signal.reason);
  const onAbort = () => {
    if (hasHead) stop();
    else backgroundTimer = setTimeout(stop, backgroundMs);
  };
  signal.addEventListener("abort", onAbort);
  try {
    const response = await fetchResponse(url, context, controller.signal);
    const { status } = response;
    // A copy, because those of another implementation are no instance of the global class.
    const headers = new Headers();
    response.headers.forEach((value, name) => headers.append(name, value));
    hasHead = true;
    context.onHead?.({ status, headers });
    if (signal.aborted) stop();
    const isOk = status >= 200 && status <= 299;
    const limit = isOk ? settings.maxResponseBytes : Math.min(settings.maxResponseBytes, errorBodyBytes);
    const body = await readBody(response, limit, controller.signal);
    // An error's status counts even without its body.
    const isCut = body.failure !== undefined && !isUndecodable(body.failure);
    if (isOk && isCut) throw new Error("the body broke off", { cause: body.failure });
    return { status, isOk, headers, url, ...body };
  } catch (error) {
    if (controller.signal.aborted) throw controller.signal.reason;
    if (error instanceof ConfigurationError) throw error;
    throw connectionError(error, url, { redactor: client.redactor, hasResponse: hasHead });
  } finally {
    clearTimeout(timeout);
    clearTimeout(backgroundTimer);
    signal.removeEventListener("abort", onAbort);
  }
}

async function fetchResponse(
  url: string,
  { access, apiKey, options, request, settings: { fetch } }: RequestContext,
  signal: AbortSignal,
): Promise<Response> {
  const { method, body } = request;
  const stream = body !== undefined && !fetch && repeatsStrings() ? singleUse(body) : undefined;
  const response = ky(url, {
    method,
    // The authentication comes last, so that no given header overrides it.
    headers: {
      ...options.headers,
      ...(body !== undefined && { "content-type": "application/json" }),
      ...stream?.headers,
      ...access.headers,
      [access.keyHeader]: apiKey.current,
    },
    ...(body !== undefined && { body: stream?.body ?? body }),
    signal,
    redirect: "manual",
    retry: 0,
    throwHttpErrors: false,
    timeout: false,
    fetch: fetch
      ? judged("The fetch option", callerFetch(fetch, { url, body, signal }))
      : judged("The global fetch", async (input, init) => await globalThis.fetch(input, init)),
  });
  // A fetch that ignores its signal must not block the call.
  return await untilAborted(response, signal);
}

/**
 * The custom fetch gets (url, init), as some reject the `Request` of another implementation; and the body as a string, as
 * a `Request` has only a stream.
 */
function callerFetch(
  fetch: Fetch,
  { url, body, signal }: { url: string; body: string | undefined; signal: AbortSignal },
) {
  return async (input: string | URL | Request): Promise<unknown> => {
    // Safe: ky passes the Request that it created.
    const { method, headers } = input as Request;
    const init: FetchInit = {
      method,
      headers: Object.fromEntries(headers),
      redirect: "manual",
      signal,
      ...(body !== undefined && { body }),
    };
    return await fetch(url, init);
  };
}

/** A fetch, the global one too as tests replace it, whose result is a Response that was not read. */
function judged(
  name: string,
  fetch: (input: string | URL | Request, init?: RequestInit) => Promise<unknown>,
) {
  return async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    // The function may have sent the request.
    const invalid = (problem: string) => new ConfigurationError(`${name} ${problem}`, "unknown");
    const response = await fetch(input, init);
    if (!isResponse(response)) throw invalid("must return a Response whose body is a web stream.");
    if (response.bodyUsed || response.body?.locked) {
      const wayOut = "Let each call return a new one, or a clone().";
      throw invalid(`returned a Response whose body was read before. ${wayOut}`);
    }
    if (response.type === "error") throw new TypeError(`${name} returned Response.error().`);
    return response;
  };
}

/** By the used properties: a Response of another implementation is no instance of the global class. */
function isResponse(value: unknown): value is Response {
  const { status, headers, body } = Object(value) as Partial<Response>;
  if (!Number.isInteger(status) || typeof headers?.forEach !== "function") return false;
  return !body || typeof body.getReader === "function";
}

/**
 * Whether the runtime's fetch silently sends a string again, even in a POST (D68): that of Node after a 421, that of Deno if
 * a reused connection closes before the response. Other runtimes need no stream, and browsers refuse one over HTTP/1.1.
 */
function repeatsStrings(): boolean {
  const { process } = globalThis as { process?: { versions?: { undici?: string } } };
  return ("Deno" in globalThis || process?.versions?.undici !== undefined) && takesStreams();
}

/** The `Request` of a polyfill would send a stream as "[object ReadableStream]", and asks for no `duplex`. */
function takesStreams(): boolean {
  let isAsked = false;
  const init = {
    method: "POST",
    body: new ReadableStream(),
    get duplex() {
      isAsked = true;
      return "half";
    },
  };
  void new Request("https://none.invalid", init);
  return isAsked;
}

/** A body that cannot be sent again, and its length, without which it would be sent in chunks. */
function singleUse(body: string): { headers: Record<string, string>; body: ReadableStream } {
  const bytes = new TextEncoder().encode(body);
  // The stream of a Response would not do: Deno keeps its source.
  const stream = new ReadableStream({
    start(controller) {
      controller.enqueue(bytes);
      controller.close();
    },
  });
  return { headers: { "content-length": String(bytes.byteLength) }, body: stream };
}

/** `limit`: in bytes, after decompression. */
async function readBody(response: Response, limit: number, signal: AbortSignal): Promise<BodyText> {
  if (!response.body) return { text: "" };
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let remaining = limit;
  try {
    for (let chunks = 1; ; chunks++) {
      // Buffered chunks would block all timers, even that of the call's timeout.
      if (chunks % chunksPerTick === 0) await new Promise((resolve) => void setTimeout(resolve));
      // A custom reader may ignore its cancellation.
      const next = await untilAborted(reader.read(), signal);
      if (next.done) return { text: text + decoder.decode() };
      text += decoder.decode(next.value.subarray(0, remaining), { stream: true });
      remaining -= next.value.byteLength;
      if (remaining < 0) return { text, limitPassed: limit };
    }
  } catch (error) {
    // A stream may fail without a reason.
    return { text, failure: error ?? new Error("no reason was given") };
  } finally {
    // The rest of the body, if there is one; a failure loses nothing.
    void (async () => await reader.cancel())().catch(() => {});
  }
}
