import { delayOf, type FaultPlan, hangsForEver, preventsWrite } from "./faults.ts";
import { readBody, readJson } from "./json-body.ts";
import type { ErrorReply, Reply } from "./mock-endpoint.ts";
import { connectionReset, htmlReply, responseOf } from "./mock-response.ts";
import type { MockRequest, MockService } from "./public-types.ts";
import { type MockRateLimitOptions, type RateLimiter, retryAfterOf } from "./rate-window.ts";
import type { RequestLog, RequestRecord } from "./request-log.ts";
import type { Organizations } from "./state/organizations.ts";
import type { MockVariants } from "./variants.ts";
import { replyTo, type Target, targetOf } from "./verdict.ts";
import { sleep, unlessAborted } from "./wait.ts";
import type { WebhookCaller } from "./webhooks.ts";

/** The state of the mock service; `reset()` makes a new one. */
export interface ServiceState {
  organizations: Organizations;
  webhooks: WebhookCaller;
  faults: FaultPlan;
  rateLimiter: RateLimiter | undefined;
  rateLimits: MockRateLimitOptions | undefined;
  variants: MockVariants;
  log: RequestLog;
  random: () => number;
  nowMs: () => number;
  latencyMs: number | readonly [number, number];
  /** Aborted by `reset()`, so that requests that hang or have not arrived end. */
  ended: () => AbortSignal;
  end: () => void;
}

/** A mock with its inner parts, for the command and the page. */
export interface Mock {
  service: MockService;
  log: RequestLog;
  /** The current one: a reset makes a new one. */
  state: () => ServiceState;
  /** How many times its windows are shorter than they would be. */
  speed: number | undefined;
}

/** Handles one request. A broken connection is a rejection, as with `fetch`. */
export async function handleRequest(
  state: ServiceState,
  request: Request,
  clientIp: string,
): Promise<Response> {
  const latencyMs = latencyOf(state);
  const wayThereMs = Math.round(latencyMs * (typeof state.latencyMs === "number" ? 0.5 : state.random()));
  const sentAt = latencyMs > 0 ? state.log.version : undefined;
  if (latencyMs > 0) await sleep(wayThereMs);
  // `reset()` has discarded the state that the request was for.
  if (state.ended().aborted) throw connectionReset();

  const target = targetOf(request, state.variants);
  const record = state.log.begin(logEntry(request, target, state), sentAt);
  try {
    const wayBackMs = latencyMs - wayThereMs;
    const response = await respond(state, { request, target, record, clientIp, wayBackMs });
    record.entry.status = response.status;
    return response;
  } finally {
    record.entry.durationMs = Math.round(state.nowMs() - record.entry.arrivedAtMs);
    state.log.end(record);
  }
}

interface Arrived {
  request: Request;
  target: Target;
  record: RequestRecord;
  clientIp: string;
  wayBackMs: number;
}

async function respond(state: ServiceState, arrived: Arrived): Promise<Response> {
  const { request, target, record, clientIp, wayBackMs } = arrived;
  const { entry } = record;
  const waitMs = state.rateLimiter?.acquire(clientIp, state.nowMs()) ?? 0;
  const body = await readBody(request);
  state.log.bodyArrived(record, body === undefined ? undefined : loggedBody(body));

  const errorReply: ErrorReply = (...error) => target.family.errorReply(state.variants, ...error);
  const fault = waitMs > 0 ? undefined : state.faults.match(target.endpoint?.operation);
  if (fault) entry.fault = fault.kind;
  const judged = { request, target, body, record, errorReply };
  let reply: Reply | undefined;
  if (waitMs > 0) reply = rateLimitReply(state, { waitMs, record, errorReply });
  else if (!preventsWrite(fault)) reply = state.log.carryOut(record, () => replyTo(state, judged));
  if (reply) record.reply = reply;
  entry.applied = reply?.applied ?? false;
  const delayMs = delayOf(fault);
  if (delayMs > 0) await sleep(delayMs, request.signal);
  const response = responseOf(fault, reply, { errorReply, url: target.url, signal: request.signal });

  if (wayBackMs > 0) await sleep(wayBackMs, request.signal);
  if (hangsForEver(fault)) {
    const forever = new Promise<never>(() => {});
    await unlessAborted(forever, AbortSignal.any([request.signal, state.ended()])).catch(connectionReset);
  }
  if (response === undefined) throw connectionReset();
  return response;
}

function rateLimitReply(
  { rateLimits, variants, nowMs }: ServiceState,
  { waitMs, record, errorReply }: { waitMs: number; record: RequestRecord; errorReply: ErrorReply },
): Reply {
  const { rateLimitStatus: status, rateLimitBody, rateLimitHeader } = variants;
  record.entry.refusedFor = `rate limit exceeded, the next permit in ${(waitMs / 1_000).toFixed(1)} s ("Limits")`;
  record.stances.push({ variant: "rateLimitStatus", value: String(status) });
  const retryAfter = retryAfterOf(waitMs, nowMs(), rateLimits?.retryAfter ?? "seconds");
  const headers = retryAfter === undefined ? {} : { [rateLimitHeader]: retryAfter };
  if (rateLimitBody === "html") return htmlReply(status, headers);
  if (rateLimitBody === "error") return { ...errorReply(status, "rate limit exceeded"), headers };
  return { status, body: rateLimitBody({ waitMs }), headers, applied: false };
}

function latencyOf({ latencyMs, random }: ServiceState): number {
  if (typeof latencyMs === "number") return latencyMs;
  const [min, max] = latencyMs;
  return Math.round(min + random() * (max - min));
}

function logEntry(request: Request, { url, endpoint }: Target, { nowMs }: ServiceState): MockRequest {
  const arrivedAtMs = nowMs();
  return {
    operation: endpoint?.operation,
    method: request.method,
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    headers: Object.fromEntries(request.headers),
    body: undefined,
    status: undefined,
    applied: false,
    at: new Date(arrivedAtMs).toISOString(),
    arrivedAtMs,
    durationMs: undefined,
  };
}

function loggedBody(text: string): unknown {
  if (text === "") return undefined;
  const read = readJson(text);
  return "value" in read ? read.value : text;
}
