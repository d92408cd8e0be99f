import type { Reply } from "./endpoint.ts";
import type { MockFault } from "./faults.ts";

const JSON_TYPE = "application/json; charset=utf-8";
const PAGE =
  "<!doctype html><html><head><title>Bad gateway</title></head><body><h1>Something went wrong</h1></body></html>";

/** More than the 10 MiB that the client reads by default. */
const HUGE_BYTES = 11 * 1024 * 1024;

/** Statuses without a body. */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

/** The error of `fetch` for a broken connection. */
export function connectionReset(): TypeError {
  return new TypeError("fetch failed", {
    cause: Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" }),
  });
}

export function isConnectionReset(error: unknown): boolean {
  return (
    error instanceof TypeError &&
    error.cause instanceof Error &&
    "code" in error.cause &&
    error.cause.code === "ECONNRESET"
  );
}

const toBody = ({ body, plainText }: Reply): string | undefined =>
  plainText ?? (body === undefined ? undefined : JSON.stringify(body));

/** Serializes a reply. */
export function toResponse(reply: Reply, body: BodyInit | undefined = toBody(reply)): Response {
  const type = reply.plainText === undefined ? JSON_TYPE : "text/plain; charset=utf-8";
  const content = BODILESS.has(reply.status) ? undefined : body;
  const headers = { ...(content !== undefined && { "content-type": type }), ...reply.headers };
  return new Response(content ?? null, { status: reply.status, headers });
}

/** The response of a fault; `undefined` for the kinds that corrupt the service's own response. */
export function faultResponse(
  fault: MockFault,
  errorReply: (status: number, message: string) => Reply,
  url: URL,
): Response | undefined {
  const retryAfter = retryAfterOf(fault.retryAfter ?? 1);
  if (fault.kind === "500-before" || fault.kind === "500-after")
    return toResponse(errorReply(500, "unexpected server error"));
  if (fault.kind === "429")
    return toResponse({ ...errorReply(429, "rate limit exceeded"), headers: retryAfter });
  if (fault.kind === "503-retry-after")
    return toResponse({ ...errorReply(503, "service unavailable"), headers: retryAfter });
  if (fault.kind === "502-html") return page(502);
  if (fault.kind === "wrong-content-type") return page(200);
  if (fault.kind === "redirect") {
    const location = fault.location ?? `https://elsewhere.example${url.pathname}${url.search}`;
    return new Response(null, { status: 307, headers: { location } });
  }
  return undefined;
}

/** The service's own response, corrupted by the fault. */
export function corruptedResponse(fault: MockFault, reply: Reply, signal: AbortSignal): Response {
  const body = toBody(reply) ?? "{}";
  const hasBody = { ...reply, status: reply.status === 204 ? 200 : reply.status };
  if (fault.kind === "truncated-json")
    return toResponse(hasBody, body.slice(0, Math.max(1, Math.floor(body.length / 2))));
  if (fault.kind === "wrong-json") return toResponse(hasBody, JSON.stringify({ unexpected: { shape: 7 } }));
  if (fault.kind === "huge-body") return toResponse(hasBody, streamOf(paddedPieces(body), 0, signal));
  if (fault.kind === "slow-body")
    return toResponse(hasBody, streamOf(tenPieces(body), fault.delayMs ?? 1_000, signal));
  if (fault.kind !== "empty-body") return toResponse(reply);
  return new Response(null, { status: reply.status, headers: { "content-type": JSON_TYPE } });
}

function page(status: number): Response {
  return new Response(PAGE, { status, headers: { "content-type": "text/html; charset=utf-8" } });
}

function retryAfterOf(retryAfter: number | Date | false): Record<string, string> {
  if (retryAfter === false) return {};
  return { "retry-after": typeof retryAfter === "number" ? String(retryAfter) : retryAfter.toUTCString() };
}

/** Correct JSON after 11 MiB of white space. */
function* paddedPieces(body: string): Generator<string> {
  const blank = " ".repeat(64 * 1024);
  for (let bytes = 0; bytes < HUGE_BYTES; bytes += blank.length) yield blank;
  yield body;
}

function* tenPieces(body: string): Generator<string> {
  const size = Math.ceil(body.length / 10);
  for (let start = 0; start < body.length; start += size) yield body.slice(start, start + size);
}

/** Streams the parts, and fails with the signal's reason, as a body of `fetch` does. */
function streamOf(
  pieces: Generator<string>,
  delayMs: number,
  signal: AbortSignal,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let stop: (() => void) | undefined;
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const onAbort = (): void => controller.error(signal.reason);
        signal.addEventListener("abort", onAbort, { once: true });
        stop = () => signal.removeEventListener("abort", onAbort);
      },
      async pull(controller) {
        if (delayMs > 0) await sleep(delayMs, signal);
        if (signal.aborted) return;
        const next = pieces.next();
        if (next.done !== true) return controller.enqueue(encoder.encode(next.value));
        stop?.();
        controller.close();
      },
      cancel() {
        stop?.();
      },
    },
    { highWaterMark: 0 },
  );
}

/** Waits until the delay has passed or the signal is aborted. */
export function sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, delayMs);
    if (signal?.aborted === true) end();
    else signal?.addEventListener("abort", end, { once: true });
  });
}
