import type { MockEndpoint, Reply } from "./endpoint.ts";
import { type FaultPlan, preventsWrite, type MockFault } from "./faults.ts";
import { withoutFinalSlashes } from "./final-slashes.ts";
import type { Organization } from "./organization.ts";
import type { Random } from "./random.ts";
import { type MockRateLimitOptions, type RateLimiter, retryAfterOf } from "./rate-window.ts";
import { type Problem, Refusal } from "./refusal.ts";
import type { MockRequest } from "./request-log.ts";
import { connectionReset, faultResponse, sleep, corruptedResponse, toResponse } from "./response.ts";
import { v1ErrorReply } from "./responses-v1.ts";
import { V1_ENDPOINTS } from "./routes-v1.ts";
import { V2_ENDPOINTS } from "./routes-v2.ts";
import type { MockVariants } from "./variants.ts";
import type { World } from "./world.ts";

/** The state of the mock service; `reset()` makes a new one. */
export interface ServiceState {
  world: World;
  faults: FaultPlan;
  rateLimiter: RateLimiter | undefined;
  rateLimits: MockRateLimitOptions | undefined;
  variants: MockVariants;
  requests: MockRequest[];
  random: Random;
  nowMs: () => number;
  latencyMs: number | readonly [number, number];
  /** Aborted by `reset()`, so that hanging requests end. */
  ended: () => AbortSignal;
  end: () => void;
}

/** The family, endpoint and id of a request. */
interface Target {
  url: URL;
  family: "v1" | "v2";
  baseUrl: string;
  endpoint: MockEndpoint | undefined;
  id: string;
}

/** Handles one request. A broken connection is a rejection, as with `fetch`. */
export async function handle(state: ServiceState, request: Request, clientIp: string): Promise<Response> {
  const latencyMs = latencyOf(state);
  const wayThereMs = Math.round(latencyMs * (typeof state.latencyMs === "number" ? 0.5 : state.random()));
  if (latencyMs > 0) await sleep(wayThereMs);

  const target = targetOf(request, state.variants);
  const entry = logEntry(request, target, state);
  state.requests.push(entry);
  const waitMs = state.rateLimiter?.acquire(clientIp, state.nowMs()) ?? 0;
  const body = await request.text();
  entry.body = loggedBody(body);

  const { response, hangs } = await respond(state, request, { target, entry, body, waitMs });
  if (latencyMs > wayThereMs) await sleep(latencyMs - wayThereMs, request.signal);
  if (hangs) await untilAborted(AbortSignal.any([request.signal, state.ended()]));
  if (response === undefined) throw connectionReset();
  entry.status = response.status;
  return response;
}

interface Arrival {
  target: Target;
  entry: MockRequest;
  body: string;
  waitMs: number;
}

async function respond(
  state: ServiceState,
  request: Request,
  { target, entry, body, waitMs }: Arrival,
): Promise<{ response: Response | undefined; hangs: boolean }> {
  const errorReply = (status: number, message: string, problems: readonly Problem[] = []) =>
    errorReplyOf(target, state, status, message, problems);
  if (waitMs > 0) return { response: rateLimitResponse(state, waitMs, errorReply), hangs: false };

  const fault = state.faults.match(target.endpoint?.operation);
  if (fault) entry.fault = fault.kind;
  let reply: Reply | undefined;
  if (!preventsWrite(fault)) {
    reply = replyTo(state, request, target, body, errorReply);
    entry.applied = reply.applied;
  }
  const delayMs =
    fault === undefined || fault.kind === "slow-body"
      ? 0
      : (fault.delayMs ?? (fault.kind === "latency" ? 1_000 : 0));
  if (delayMs > 0) await sleep(delayMs, request.signal);
  if (fault?.kind === "reset-before" || fault?.kind === "reset-after" || fault?.kind === "hang") {
    return { response: undefined, hangs: fault.kind === "hang" };
  }
  return {
    response: responseOf(fault, reply, { errorReply, url: target.url, signal: request.signal }),
    hangs: false,
  };
}

function responseOf(
  fault: MockFault | undefined,
  reply: Reply | undefined,
  {
    errorReply,
    url,
    signal,
  }: { errorReply: (status: number, message: string) => Reply; url: URL; signal: AbortSignal },
): Response | undefined {
  if (fault === undefined) return reply && toResponse(reply);
  return faultResponse(fault, errorReply, url) ?? (reply && corruptedResponse(fault, reply, signal));
}

/** Authenticates the request and calls the endpoint. A refusal becomes an error body of the family. */
function replyTo(
  state: ServiceState,
  request: Request,
  target: Target,
  body: string,
  errorReply: (status: number, message: string, problems?: readonly Problem[]) => Reply,
): Reply {
  try {
    const organization = authenticate(state, request.headers, target);
    const { endpoint, url, baseUrl, id } = target;
    if (endpoint === undefined) throw new Refusal(404, `there is no ${request.method} ${url.pathname}`);
    const { variants } = state;
    return endpoint.respond({
      organization,
      variants,
      id,
      query: url.searchParams,
      json: () => parseJson(request, body),
      baseUrl,
    });
  } catch (error) {
    /* v8 ignore next -- @preserve a defect of the mock itself */
    if (!(error instanceof Refusal)) throw error;
    return { ...errorReply(error.status, error.message, error.problems), applied: error.applied };
  }
}

/** "Authentication": each family has its own headers; a missing or invalid one is a 401. */
function authenticate(
  { world, variants }: ServiceState,
  headers: Headers,
  { family, endpoint }: Target,
): Organization {
  const key = headers.get(family === "v1" ? "x-api-key" : "service-api-key");
  const organization = key === null ? undefined : world.byKey(family, key);
  const needsAppId = family === "v2" || variants.v1NeedsAppId;
  if (key === null || organization === undefined) throw new Refusal(401, "API key missing or invalid");
  if (needsAppId && headers.get("service-app-id") !== organization.appId)
    throw new Refusal(401, "app id missing or invalid");
  const permitted = Object.hasOwn(variants.permissions, key) ? variants.permissions[key] : undefined;
  if (permitted && endpoint && !permitted.includes(endpoint.operation))
    throw new Refusal(403, "the key does not permit this");
  return organization;
}

/** "Requests with a body carry `Content-Type: application/json`." */
function parseJson(request: Request, body: string): unknown {
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") throw new Refusal(400, "Content-Type must be application/json");
  try {
    return JSON.parse(body);
  } catch {
    throw new Refusal(400, "the body is not JSON");
  }
}

function targetOf(request: Request, variants: MockVariants): Target {
  const url = new URL(request.url);
  for (const [family, base, endpoints] of [
    ["v1", variants.baseUrl, V1_ENDPOINTS],
    ["v2", variants.baseUrlV2, V2_ENDPOINTS],
  ] as const) {
    const prefix = withoutFinalSlashes(new URL(base).pathname);
    const path = url.pathname.slice(prefix.length);
    const isInFamily =
      url.pathname.startsWith(prefix) && path.startsWith(family === "v1" ? "/api/v1/" : "/v2/");
    if (!isInFamily) continue;
    const endpoint = endpoints.find(
      (candidate) => candidate.method === request.method && candidate.path.test(path),
    );
    const id = decoded(endpoint?.path.exec(path)?.[1] ?? "");
    return { url, family, baseUrl: `${url.origin}${prefix}`, endpoint, id };
  }
  return { url, family: "v1", baseUrl: url.origin, endpoint: undefined, id: "" };
}

/** A segment with invalid percent-encoding is an unknown id. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function errorReplyOf(
  target: Target,
  state: ServiceState,
  status: number,
  message: string,
  problems: readonly Problem[],
): Reply {
  if (target.family === "v1") return v1ErrorReply(state.variants.v1Error, status, message, problems);
  return { status, body: { status: "error", message }, applied: false };
}

function rateLimitResponse(
  state: ServiceState,
  waitMs: number,
  errorReply: (status: number, message: string) => Reply,
): Response {
  const retryAfter = retryAfterOf(waitMs, state.nowMs(), state.rateLimits?.retryAfter ?? "seconds");
  const reply = errorReply(state.variants.rateLimitStatus, "rate limit exceeded");
  return toResponse({
    ...reply,
    ...(retryAfter !== undefined && { headers: { "retry-after": retryAfter } }),
  });
}

function latencyOf({ latencyMs, random }: ServiceState): number {
  if (typeof latencyMs === "number") return latencyMs;
  const [min, max] = latencyMs;
  return Math.round(min + random() * (max - min));
}

function logEntry(request: Request, { url, endpoint }: Target, { nowMs }: ServiceState): MockRequest {
  return {
    operation: endpoint?.operation,
    method: request.method,
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    headers: Object.fromEntries(request.headers),
    body: undefined,
    status: undefined,
    applied: false,
    arrivedAtMs: nowMs(),
  };
}

function loggedBody(body: string): unknown {
  if (body === "") return undefined;
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}

/** Resolves when the signal is aborted; a hanging request then ends like a reset. */
function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
