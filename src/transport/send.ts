import ky, { NetworkError, replaceOption } from "ky";
import { ConfigurationError, TimeoutError } from "../errors.ts";
import { startTimer } from "../timer.ts";
import { withoutPrototype } from "../values/predicates.ts";
import { untilAborted } from "./abort.ts";
import type { BodyText, Call, ReceivedResponse, ResponseHead, SentRequest } from "./call.ts";
import type { Fetch, FetchInit } from "./fetch.ts";
import { connectionError, isUndecodable } from "./network-error.ts";
import { repeatsStrings, singleUse } from "./request-body.ts";

/** How long an aborted request may continue, so that its response reaches the rate limit and the order of writes. */
const backgroundMs = 2_000;
/** An error needs no more of its body. */
const errorBodyBytes = 64 * 1024;
const chunksPerTick = 1_000;

/** A request and its response, in the time that they may take. */
export class Exchange {
  readonly #call: Call;
  readonly #url: string;
  /** Cuts the request. */
  readonly #controller = new AbortController();
  readonly #cancelTimeout: () => void;
  #cancelBackground: (() => void) | undefined;
  #hasHead = false;

  constructor(call: Call) {
    const { timeoutMs } = call.options;
    this.#call = call;
    this.#url = call.access.baseUrl + call.request.target;
    this.#cancelTimeout = startTimer(() => {
      const received = this.#hasHead ? "not its whole body" : "no headers";
      const message = `No complete response within timeoutMs (${timeoutMs} ms): ${received} received.`;
      this.#controller.abort(new TimeoutError({ message, outcome: "unknown", timeoutMs }));
    }, timeoutMs);
    call.abort.signal.addEventListener("abort", this.#onAbort);
  }

  /**
   * Resolves at the head of the response, as `fetch` does; rejects, and so does `read`, with a `ConnectionError` or
   * `TimeoutError`, or the signal's reason.
   */
  async send(key: string): Promise<SentRequest> {
    try {
      const response = await fetchResponse(this.#url, this.#call, key, this.#controller.signal);
      // A copy, because those of another implementation are no instance of the global class.
      const headers = new Headers();
      response.headers.forEach((value, name) => headers.append(name, value));
      this.#hasHead = true;
      const head = { status: response.status, headers };
      return { head, read: () => this.#read(response, head) };
    } catch (error) {
      this.#end();
      throw this.#failure(error);
    }
  }

  async #read(response: Response, { status, headers }: ResponseHead): Promise<ReceivedResponse> {
    const { abort, settings } = this.#call;
    try {
      // It was aborted before its head: nobody waits for its body.
      if (abort.signal.aborted) this.#cut();
      const isOk = status >= 200 && status <= 299;
      const limit = isOk ? settings.maxResponseBytes : Math.min(settings.maxResponseBytes, errorBodyBytes);
      const body = await readBody(response, limit, this.#controller.signal);
      // An error's status counts even without its body.
      const isCut = body.failure !== undefined && !isUndecodable(body.failure);
      if (isOk && isCut) throw new Error("the body broke off", { cause: body.failure });
      return { status, isOk, headers, url: this.#url, ...body };
    } catch (error) {
      throw this.#failure(error);
    } finally {
      this.#end();
    }
  }

  /** Before its head the request continues for a while, so that the rate limit and the order of writes know its end. */
  readonly #onAbort = () => {
    if (this.#hasHead) this.#cut();
    else this.#cancelBackground = startTimer(() => this.#cut(), backgroundMs);
  };

  #cut(): void {
    this.#controller.abort(this.#call.abort.signal.reason);
  }

  #end(): void {
    this.#cancelTimeout();
    this.#cancelBackground?.();
    this.#call.abort.signal.removeEventListener("abort", this.#onAbort);
  }

  #failure(error: unknown): unknown {
    if (this.#controller.signal.aborted) return this.#controller.signal.reason;
    if (error instanceof ConfigurationError) return error;
    const { redactor } = this.#call.client;
    return connectionError(error, this.#url, { redactor, hasResponse: this.#hasHead });
  }
}

async function fetchResponse(
  url: string,
  { access, options, request, settings: { fetch } }: Call,
  key: string,
  signal: AbortSignal,
): Promise<Response> {
  const { method, body } = request;
  const name = fetch ? "The fetch option" : "The global fetch";
  // The global one is looked up for each request, as a test may replace it.
  const start = fetch ? callerFetch(fetch, { url, body, signal }) : globalThis.fetch;
  // A write without a body too, as its fetch sends that again as well.
  const stream = method !== "GET" && !fetch && repeatsStrings() ? singleUse(body ?? "") : undefined;
  // What all objects inherit is no header and no body: ky would merge it, and read the headers of its input too.
  const response = ky(Object.assign(new URL(url), { headers: undefined }), {
    method,
    // The authentication comes last, so that no given header overrides it.
    headers: replaceOption({
      ...options.headers,
      ...(body !== undefined && { "content-type": "application/json" }),
      ...stream?.headers,
      ...access.headers,
      [access.keyHeader]: key,
    }),
    body: replaceOption(stream?.body ?? body ?? null),
    signal,
    redirect: "manual",
    retry: 0,
    throwHttpErrors: false,
    timeout: false,
    fetch: async (...given) => judge(name, await start(...given)),
  });
  try {
    // A fetch that ignores its signal must not block the call.
    return await untilAborted(response, signal);
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
    const init: FetchInit = withoutPrototype({
      method,
      headers: Object.fromEntries(headers),
      redirect: "manual",
      signal,
      ...(body !== undefined && { body }),
    });
    return await fetch(url, init);
  };
}

/** The result of a fetch, also of the global one, as tests replace it, if it is a Response that was not read. */
function judge(name: string, result: unknown): Response {
  // The function may have sent the request.
  const invalid = (problem: string) => new ConfigurationError(`${name} ${problem}`, "unknown");
  if (!isResponse(result)) throw invalid("must return a Response whose body is a web stream.");
  if (result.bodyUsed || result.body?.locked) {
    const wayOut = "Let each call return a new one, or a clone().";
    throw invalid(`returned a Response whose body was read before. ${wayOut}`);
  }
  if (result.type === "error") throw new TypeError(`${name} returned Response.error().`);
  return result;
}

/** By the used properties: a Response of another implementation is no instance of the global class. */
function isResponse(value: unknown): value is Response {
  const { status, headers, body } = Object(value) as Partial<Response>;
  if (!Number.isInteger(status) || typeof headers?.forEach !== "function") return false;
  return !body || typeof body.getReader === "function";
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
