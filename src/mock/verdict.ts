import { readJson } from "./json-body.ts";
import type { ErrorReply, MockEndpoint, Reply } from "./mock-endpoint.ts";
import { Refusal } from "./refusal.ts";
import type { RequestRecord } from "./request-log.ts";
import type { Organization } from "./state/organization.ts";
import type { Organizations } from "./state/organizations.ts";
import { v1ErrorReply } from "./v1/responses.ts";
import { V1_ENDPOINTS } from "./v1/routes.ts";
import { v2ErrorReply, V2_ENDPOINTS } from "./v2/routes.ts";
import type { MockVariants } from "./variants.ts";

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
export interface Target {
  url: URL;
  family: (typeof FAMILIES)[number];
  baseUrl: string;
  endpoint: MockEndpoint | undefined;
  id: string;
}

export function targetOf(request: Request, variants: MockVariants): Target {
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

interface Judged {
  request: Request;
  target: Target;
  /** `undefined` if it is too large. */
  body: string | undefined;
  record: RequestRecord;
  errorReply: ErrorReply;
}

/** Authenticates the request and calls the endpoint. A refusal becomes an error body of the family. */
export function replyTo(
  { organizations, variants }: { organizations: Organizations; variants: MockVariants },
  { request, target, body, record, errorReply }: Judged,
): Reply {
  const { endpoint, url, baseUrl, id } = target;
  const stance = (variant: keyof MockVariants) =>
    void record.stances.push({ variant, value: shown(variants[variant]) });
  try {
    const organization = authenticate(organizations, variants, request.headers, target);
    record.organization = organization.seed.id;
    record.id = id;
    if (endpoint === undefined)
      throw new Refusal(404, `there is no ${request.method} ${url.pathname}`, { section: "Endpoints" });
    const json = () => parseJson(request, body);
    const { operation } = endpoint;
    const query = url.searchParams;
    return endpoint.respond({ operation, organization, variants, id, query, json, baseUrl, stance });
  } catch (error) {
    /* v8 ignore next -- @preserve a defect of the mock itself */
    if (!(error instanceof Refusal)) throw error;
    const { status, message, details } = error;
    // Safe: without an endpoint the refusal names its section.
    const { problems, applied = false, variant, section = endpoint!.route } = details;
    record.entry.refusedFor = `${message} ("${section}")`;
    if (variant !== undefined) stance(variant);
    return { ...errorReply(status, message, problems), applied };
  }
}

/** Keys and functions are not shown. */
function shown(value: unknown): string {
  const isShown = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
  return isShown ? String(value) : "as configured";
}

/** "Authentication": each family has its own headers; a missing or invalid one is a 401. */
function authenticate(
  organizations: Organizations,
  variants: MockVariants,
  headers: Headers,
  { family, endpoint }: Target,
): Organization {
  const isV2 = family.base === "baseUrlV2";
  const section = "Authentication";
  const key = headers.get(family.keyHeader);
  const organization = key === null ? undefined : organizations.byKey(isV2 ? "v2" : "v1", key);
  if (key === null || organization === undefined)
    throw new Refusal(401, "API key missing or invalid", { section });
  if ((isV2 || variants.v1NeedsAppId) && headers.get("service-app-id") !== organization.seed.appId)
    throw new Refusal(401, "app id missing or invalid", {
      section,
      ...(!isV2 && { variant: "v1NeedsAppId" }),
    });
  const permitted = Object.hasOwn(variants.permissions, key) ? variants.permissions[key] : undefined;
  if (permitted && endpoint && !permitted.includes(endpoint.operation))
    throw new Refusal(403, "the key does not permit this", { section, variant: "permissions" });
  return organization;
}

/** "Requests with a body carry `Content-Type: application/json`." */
function parseJson(request: Request, body: string | undefined): unknown {
  const section = "Endpoints";
  if (body === undefined)
    throw new Refusal(413, "the body is larger than 10 MiB, the mock's own limit", { section });
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json")
    throw new Refusal(400, "Content-Type must be application/json", { section });
  const read = readJson(body);
  if ("problem" in read) throw new Refusal(400, read.problem, { section });
  return read.value;
}
