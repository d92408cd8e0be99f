import type { MockFault } from "./faults.ts";
import type { ErrorReply, Reply } from "./mock-endpoint.ts";
import { sleep } from "./wait.ts";

const JSON_TYPE = "application/json; charset=utf-8";
const PAGE =
  "<!doctype html><html><head><title>Bad gateway</title></head><body><h1>Something went wrong</h1></body></html>";

/** More than the 10 MiB that the client reads by default. */
const HUGE_BYTES = 11 * 1024 * 1024;
const PIECE_BYTES = 64 * 1024;

/** Statuses without a body. */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

/** The error of `fetch` for a broken connection. */
export function connectionReset(): TypeError {
  return new TypeError("fetch failed", {
    cause: Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" }),
  });
}

export function isConnectionReset(error: unknown): boolean {
  // Safe: any value but null and undefined can be asked for a property.
  return error instanceof TypeError && (error.cause as { code?: unknown } | null)?.code === "ECONNRESET";
}

const toBody = ({ body, plainText }: Reply): string | undefined =>
  plainText ?? (body === undefined ? undefined : JSON.stringify(body));

/** Serializes a reply. */
function toResponse(reply: Reply, body: BodyInit | undefined = toBody(reply)): Response {
  const type = reply.plainText === undefined ? JSON_TYPE : "text/plain; charset=utf-8";
  const content = BODILESS.has(reply.status) ? undefined : body;
  const headers = { ...(content !== undefined && { "content-type": type }), ...reply.headers };
  return new Response(content ?? null, { status: reply.status, headers });
}

/** The response to a request that a fault may affect; `undefined` for a broken connection. */
export function responseOf(
  fault: MockFault | undefined,
  reply: Reply | undefined,
  { errorReply, url, signal }: { errorReply: ErrorReply; url: URL; signal: AbortSignal },
): Response | undefined {
  switch (fault?.kind) {
    case "reset-before":
    case "reset-after":
    case "hang":
      return undefined;
    case "500-before":
    case "500-after":
      return toResponse(errorReply(500, "unexpected server error"));
    case "429":
      return toResponse({ ...errorReply(429, "rate limit exceeded"), headers: retryAfterOf(fault) });
    case "503-retry-after":
      return toResponse({ ...errorReply(503, "service unavailable"), headers: retryAfterOf(fault) });
    case "502-html":
      return page(502);
    case "wrong-content-type":
      return page(200);
    case "redirect": {
      const location = fault.location ?? `https://elsewhere.example${url.pathname}${url.search}`;
      return new Response(null, { status: 307, headers: { location } });
    }
    default:
      return reply && (fault ? corruptedResponse(fault, reply, signal) : toResponse(reply));
  }
}

/** The service's own response, corrupted by the fault. */
function corruptedResponse(fault: MockFault, reply: Reply, signal: AbortSignal): Response {
  const body = toBody(reply) ?? "{}";
  const bytes = new TextEncoder().encode(body);
  const hasBody = { ...reply, status: reply.status === 204 ? 200 : reply.status };
  if (fault.kind === "truncated-json")
    return toResponse(hasBody, body.slice(0, Math.max(1, Math.floor(body.length / 2))));
  if (fault.kind === "wrong-json") return toResponse(hasBody, JSON.stringify({ unexpected: { shape: 7 } }));
  if (fault.kind === "huge-body")
    return toResponse(hasBody, streamOf(delayed(paddedPieces(bytes), 0, signal)));
  if (fault.kind === "slow-body")
    return toResponse(hasBody, streamOf(delayed(tenPieces(bytes), fault.delayMs ?? 1_000, signal)));
  if (fault.kind !== "empty-body") return toResponse(reply);
  return new Response(null, { status: reply.status, headers: { "content-type": JSON_TYPE } });
}

function page(status: number): Response {
  return toResponse(htmlReply(status));
}

/** The response of a gateway. */
export function htmlReply(status: number, headers: Record<string, string> = {}): Reply {
  return {
    status,
    plainText: PAGE,
    headers: { "content-type": "text/html; charset=utf-8", ...headers },
    applied: false,
  };
}

function retryAfterOf({ retryAfter = 1 }: MockFault): Record<string, string> {
  if (retryAfter === false) return {};
  return { "retry-after": typeof retryAfter === "number" ? String(retryAfter) : retryAfter.toUTCString() };
}

/** Correct JSON after 11 MiB of white space. */
function* paddedPieces(body: Uint8Array): Generator<Uint8Array> {
  for (let bytes = 0; bytes < HUGE_BYTES; bytes += PIECE_BYTES) yield new Uint8Array(PIECE_BYTES).fill(0x20);
  yield body;
}

function* tenPieces(body: Uint8Array): Generator<Uint8Array> {
  const edge = (part: number) => Math.floor((part * body.length) / 10);
  for (let part = 0; part < 10; part += 1) yield body.slice(edge(part), edge(part + 1));
}

/** The pieces, each after the delay. It fails with the signal's reason, as a body of `fetch` does. */
async function* delayed(
  pieces: Iterable<Uint8Array>,
  delayMs: number,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) {
    if (delayMs > 0) await sleep(delayMs, signal);
    signal.throwIfAborted();
    yield piece;
  }
}

function streamOf(pieces: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = await pieces.next();
        if (next.done === true) controller.close();
        else controller.enqueue(next.value);
      },
    },
    { highWaterMark: 0 },
  );
}
