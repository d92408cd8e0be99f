import ky, { NetworkError, replaceOption } from "ky";
import { ConfigurationError, TimeoutError } from "../errors.ts";
import { ofRuntime } from "../runtime.ts";
import { startTimer } from "../timer.ts";
import { undefinedOf, withoutPrototype } from "../values/predicates.ts";
import { onAbort, untilAborted } from "./abort-signal.ts";
import { outcomeOfStatus } from "./api-error.ts";
import type { BodyText, Call, ReceivedResponse, ResponseHead } from "./call.ts";
import type { FetchInit } from "./fetch-types.ts";
import { connectionError, isUndecodable } from "./network-error.ts";

/** How long an aborted request may continue, so that its response reaches the rate limit and the order of writes. */
const backgroundMs = 2_000;
/** An error needs no more of its body. */
const errorBodyBytes = 64 * 1024;
const chunksPerTick = 1_000;

/** What ky would read of `Object.prototype` (D190). */
const notInheritedByKy = {
  ...undefinedOf("json prefix context parseJson stringifyJson totalTimeout"),
  ...undefinedOf("onDownloadProgress onUploadProgress"),
  // Not undefined: ky leaves that out of its copy, and reads the inherited one there.
  searchParams: "",
  hooks: undefinedOf("init beforeRequest beforeRetry beforeError afterResponse"),
};

/**
 * Sends a request, and reads its response, in the time that they may take. Rejects with a `ConnectionError` or a
 * `TimeoutError`, or with the error of the caller that has left.
 */
export async function exchange(
  call: Call,
  key: string,
  onHead: (head: ResponseHead) => void,
): Promise<ReceivedResponse> {
  const { client, options, request, settings } = call;
  const { signal: left } = call.left;
  const { timeoutMs } = options;
  const url = request.access.baseUrl + request.target;
  const fetchStop = new AbortController();
  let hasHead = false;
  const cancelTimeout = startTimer(() => {
    const received = hasHead ? "not its whole body" : "no headers";
    const message = `No complete response within timeoutMs (${timeoutMs} ms): ${received} received.`;
    fetchStop.abort(new TimeoutError({ message, outcome: "unknown", timeoutMs }));
  }, timeoutMs);
  let cancelBackground: (() => void) | undefined;
  const removeListener = onAbort(left, () => {
    // Before its head the request continues for a while, so that the rate limit and the order of writes know its end.
    if (hasHead) fetchStop.abort(left.reason);
    else cancelBackground = startTimer(() => fetchStop.abort(left.reason), backgroundMs);
  });
  call.inFlight = "unknown";
  try {
    // A fetch that ignores its signal must not block the call.
    const response = await untilAborted(fetchResponse(url, call, key, fetchStop.signal), fetchStop.signal);
    const { status } = response;
    // A copy, because the headers of another implementation are no instance of the global class.
    const headers = new Headers();
    response.headers.forEach((value, name) => headers.append(name, value));
    hasHead = true;
    call.inFlight = outcomeOfStatus(status, request);
    onHead({ status, headers });
    if (left.aborted) fetchStop.abort(left.reason);
    const isOk = status >= 200 && status <= 299;
    const maxBytes = isOk ? settings.maxResponseBytes : Math.min(settings.maxResponseBytes, errorBodyBytes);
    const body = await readBody(response, maxBytes, fetchStop.signal);
    // An error's status counts even without its body.
    const hasBrokenOff = body.failure !== undefined && !isUndecodable(body.failure);
    if (isOk && hasBrokenOff) throw new Error("the body broke off", { cause: body.failure });
    return { status, isOk, headers, url, ...body };
  } catch (error) {
    if (fetchStop.signal.aborted) throw fetchStop.signal.reason;
    if (error instanceof ConfigurationError) throw error;
    throw connectionError(error, url, { redactor: client.redactor, hasResponse: hasHead });
  } finally {
    cancelTimeout();
    cancelBackground?.();
    removeListener();
  }
}

async function fetchResponse(
  url: string,
  { options, request: { access, body, endpoint }, settings: { fetch } }: Call,
  key: string,
  signal: AbortSignal,
): Promise<Response> {
  const { method } = endpoint;
  // A write without a body too, as the runtime's fetch sends that again as well.
  const singleUse = method !== "GET" && !fetch && repeatsStrings() ? singleUseBody(body ?? "") : undefined;
  try {
    // What all objects inherit is no header and no body: ky would merge it, and read the headers of its input too.
    return await ky(Object.assign(new URL(url), { headers: undefined }), {
      ...notInheritedByKy,
      method,
      // The authentication comes last, so that no given header overrides it.
      headers: replaceOption({
        ...options.headers,
        ...(body !== undefined && { "content-type": "application/json" }),
        ...singleUse?.headers,
        ...access.headers,
        [access.keyHeader]: key,
      }),
      body: replaceOption(body ?? null),
      signal,
      redirect: "manual",
      retry: 0,
      throwHttpErrors: false,
      timeout: false,
      async fetch(input) {
        // Safe: ky passes the Request that it created.
        const { headers } = input as Request;
        const init: FetchInit = withoutPrototype({
          method,
          headers: Object.fromEntries(headers),
          redirect: "manual",
          signal,
          ...(body !== undefined && { body }),
        });
        // A URL, as some reject the `Request` of another implementation, and the body as a string, as a `Request` has only a stream.
        if (fetch) return checkResponse("The fetch option", await fetch(url, init));
        // Looked up for each request, as a test may replace it. Node's fetch reads what is missing of `Object.prototype`.
        const globalInit = withoutPrototype({ ...init, ...(singleUse?.init ?? { body: body ?? null }) });
        return checkResponse("The global fetch", await globalThis.fetch(input, globalInit));
      },
    });
  } catch (error) {
    // The message of ky's own error holds the URL, and so the ids in it.
    const failure = error instanceof NetworkError ? error.cause : error;
    if (isHidden407(failure)) return new Response(null, { status: 407 });
    throw failure;
  }
}

/** Of a 407 Node's fetch makes the one failure that has no reason: neither a message nor a code (D110). */
function isHidden407(failure: unknown): boolean {
  // By its properties, as in Jest the classes of the runtime are others.
  const { message, cause } = Object(failure) as Partial<Error>;
  const reason = Object(cause) as Partial<Error>;
  return (
    message === "fetch failed" && reason.name === "Error" && reason.message === "" && !("code" in reason)
  );
}

/**
 * The result of a fetch, also of the global one, as tests replace it, if it is a Response that was not read: by the used
 * properties, as one of another implementation is no instance of the global class.
 */
function checkResponse(name: string, result: unknown): Response {
  // The fetch function may have sent the request.
  const badFetch = (problem: string) => new ConfigurationError(`${name} ${problem}`, "unknown");
  const response = Object(result) as Partial<Response>;
  const { status, headers, body } = response;
  // Only null says that there is no body: without the property it would pass for an empty one.
  const isBody = body === null || typeof body?.getReader === "function";
  if (!Number.isInteger(status) || typeof headers?.forEach !== "function" || !isBody)
    throw badFetch("must return a Response whose body is a web stream, or null.");
  if (response.bodyUsed || body?.locked) {
    const wayOut = "Let each call return a new one, or a clone().";
    throw badFetch(`returned a Response whose body was read before. ${wayOut}`);
  }
  if (response.type === "error") throw new TypeError(`${name} returned Response.error().`);
  // Safe: the response has what is used of it.
  return response as Response;
}

/** Reads a body up to `maxBytes`, counted after decompression. */
async function readBody(response: Response, maxBytes: number, signal: AbortSignal): Promise<BodyText> {
  if (!response.body) return { text: "" };
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let remainingBytes = maxBytes;
  let isWhole = false;
  const readChunks = async () => {
    for (let chunks = 1; remainingBytes >= 0 && !signal.aborted; chunks++) {
      // Buffered chunks would block all timers, even that of the call's timeout.
      if (chunks % chunksPerTick === 0) await new Promise((resolve) => void setTimeout(resolve));
      const chunk = await reader.read();
      isWhole = chunk.done;
      if (chunk.done) return;
      text += decoder.decode(chunk.value.subarray(0, remainingBytes), { stream: true });
      remainingBytes -= chunk.value.byteLength;
    }
  };
  try {
    // A custom reader may ignore its cancellation.
    await untilAborted(readChunks(), signal);
    return isWhole ? { text: text + decoder.decode() } : { text, limitPassed: maxBytes };
  } catch (error) {
    // A stream may fail without a reason.
    return { text, failure: error ?? new Error("no reason was given") };
  } finally {
    // Drops the rest of the body; a failure loses nothing.
    if (!isWhole) void (async () => await reader.cancel())().catch(() => {});
  }
}

/**
 * Whether the runtime's fetch silently sends a string again, even in a POST (D68): that of Node after a 421, that of Deno if
 * a reused connection closes before the response. Other runtimes need no stream, and browsers refuse one over HTTP/1.1.
 */
function repeatsStrings(): boolean {
  if ("Deno" in globalThis) return true;
  const isUndici = ofRuntime(({ process }) => process?.versions?.["undici"]) !== undefined;
  // The `Request` of a polyfill would send a stream as "[object ReadableStream]".
  return isUndici && Object.hasOwn(Request.prototype, "duplex");
}

/** A body that cannot be sent again, and its length, without which it would be sent in chunks. */
function singleUseBody(body: string) {
  const bytes = new TextEncoder().encode(body);
  // The stream of a `new Response(body)` would not do: Deno keeps its source.
  const bodyStream = new ReadableStream({
    start(controller) {
      controller.enqueue(bytes);
      controller.close();
    },
  });
  const headers = { "content-length": String(bytes.byteLength) };
  // Named, as a stream allows no other mode and no keepalive, which `Object.prototype` may hold (D190).
  return { headers, init: { body: bodyStream, duplex: "half", mode: "cors" as const, keepalive: false } };
}
