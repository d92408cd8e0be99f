import { delayOf, type FaultPlan, hangsForEver, preventsWrite } from "./faults.ts";
import type { ErrorReply, MockEndpoint, Reply } from "./mock-endpoint.ts";
import { connectionReset, htmlReply, responseOf } from "./mock-response.ts";
import type { MockRequest } from "./public-types.ts";
import { type MockRateLimitOptions, type RateLimiter, retryAfterOf } from "./rate-window.ts";
import { Refusal } from "./refusal.ts";
import type { Organization } from "./state/organization.ts";
import type { Organizations } from "./state/organizations.ts";
import { v1ErrorReply } from "./v1/responses.ts";
import { V1_ENDPOINTS } from "./v1/routes.ts";
import { v2ErrorReply, V2_ENDPOINTS } from "./v2/routes.ts";
import type { MockVariants } from "./variants.ts";
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
  requests: MockRequest[];
  random: () => number;
  nowMs: () => number;
  latencyMs: number | readonly [number, number];
  /** Aborted by `reset()`, so that requests that hang or have not arrived end. */
  ended: () => AbortSignal;
  end: () => void;
}

/** The differences of the two families ("Conventions", "Authentication"). */
const FAMILIES = [
  {
    base: "baseUrl",
    root: "/api/v1/",
    keyHeader: "x-api-key",
    endpoints: V1_ENDPOINTS,
    errorReply: v1ErrorReply,
  },
  {
    base: "baseUrlV2",
    root: "/v2/",
    keyHeader: "service-api-key",
    endpoints: V2_ENDPOINTS,
    errorReply: v2ErrorReply,
  },
] as const;

/** The endpoint that a request is for, its family and its id. */
interface Target {
  url: URL;
  family: (typeof FAMILIES)[number];
  baseUrl: string;
  endpoint: MockEndpoint | undefined;
  id: string;
}

/** Handles one request. A broken connection is a rejection, as with `fetch`. */
export async function handleRequest(
  state: ServiceState,
  request: Request,
  clientIp: string,
): Promise<Response> {
  const latencyMs = latencyOf(state);
  const wayThereMs = Math.round(latencyMs * (typeof state.latencyMs === "number" ? 0.5 : state.random()));
  if (latencyMs > 0) await sleep(wayThereMs);
  // `reset()` has discarded the state that the request was for.
  if (state.ended().aborted) throw connectionReset();

  const target = targetOf(request, state.variants);
  const entry = logEntry(request, target, state);
  state.requests.push(entry);
  const waitMs = state.rateLimiter?.acquire(clientIp, state.nowMs()) ?? 0;
  const body = await request.text();
  entry.body = loggedBody(body);

  const errorReply: ErrorReply = (...error) => target.family.errorReply(state.variants, ...error);
  const fault = waitMs > 0 ? undefined : state.faults.match(target.endpoint?.operation);
  if (fault) entry.fault = fault.kind;
  let reply: Reply | undefined;
  if (waitMs > 0) reply = rateLimitReply(state, waitMs, errorReply);
  else if (!preventsWrite(fault)) reply = replyTo(state, request, target, body, errorReply);
  entry.applied = reply?.applied ?? false;
  const delayMs = delayOf(fault);
  if (delayMs > 0) await sleep(delayMs, request.signal);
  const response = responseOf(fault, reply, { errorReply, url: target.url, signal: request.signal });

  if (latencyMs > wayThereMs) await sleep(latencyMs - wayThereMs, request.signal);
  if (hangsForEver(fault)) {
    const forever = new Promise<never>(() => {});
    await unlessAborted(forever, AbortSignal.any([request.signal, state.ended()])).catch(connectionReset);
  }
  if (response === undefined) throw connectionReset();
  entry.status = response.status;
  return response;
}

function targetOf(request: Request, variants: MockVariants): Target {
  const url = new URL(request.url);
  for (const family of FAMILIES) {
    const prefix = new URL(variants[family.base]).pathname.replace(/\/+$/, "");
    const path = url.pathname.slice(prefix.length);
    if (!url.pathname.startsWith(prefix) || !path.startsWith(family.root)) continue;
    const endpoint = family.endpoints.find(
      (candidate) => candidate.method === request.method && candidate.path.test(path),
    );
    const id = decoded(endpoint?.path.exec(path)?.[1] ?? "");
    return { url, family, baseUrl: `${url.origin}${prefix}`, endpoint, id };
  }
  return { url, family: FAMILIES[0], baseUrl: url.origin, endpoint: undefined, id: "" };
}

/** A segment with invalid percent-encoding is an unknown id. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** Authenticates the request and calls the endpoint. A refusal becomes an error body of the family. */
function replyTo(
  state: ServiceState,
  request: Request,
  target: Target,
  body: string,
  errorReply: ErrorReply,
): Reply {
  const { endpoint, url, baseUrl, id } = target;
  const { variants } = state;
  try {
    const organization = authenticate(state, request.headers, target);
    if (endpoint === undefined) throw new Refusal(404, `there is no ${request.method} ${url.pathname}`);
    const json = () => parseJson(request, body);
    const { operation } = endpoint;
    return endpoint.respond({
      operation,
      organization,
      variants,
      id,
      query: url.searchParams,
      json,
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
  { organizations, variants }: ServiceState,
  headers: Headers,
  { family, endpoint }: Target,
): Organization {
  const isV2 = family.base === "baseUrlV2";
  const key = headers.get(family.keyHeader);
  const organization = key === null ? undefined : organizations.byKey(isV2 ? "v2" : "v1", key);
  if (key === null || organization === undefined) throw new Refusal(401, "API key missing or invalid");
  if ((isV2 || variants.v1NeedsAppId) && headers.get("service-app-id") !== organization.seed.appId)
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

function rateLimitReply(
  { rateLimits, variants, nowMs }: ServiceState,
  waitMs: number,
  errorReply: ErrorReply,
): Reply {
  const { rateLimitStatus: status, rateLimitBody, rateLimitHeader } = variants;
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
