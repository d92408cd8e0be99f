import type { Problem } from "./json-rules.ts";
import type { MockOperation } from "./operations.ts";
import { refusalOf } from "./refusal.ts";
import type { ContactFields } from "./state/contact-fields.ts";
import type { Organization } from "./state/organization.ts";
import type { MockVariants } from "./variants.ts";

/** The service's response before it is serialized. */
export interface Reply {
  status: number;
  /** JSON; no body if `undefined`. */
  body?: unknown;
  /** Plain text instead of JSON. */
  plainText?: string;
  headers?: Record<string, string>;
  /** Whether the request changed the state. */
  applied: boolean;
}

/** Builds an error body of the request's family ("Errors"). */
export type ErrorReply = (status: number, message: string, problems?: readonly Problem[]) => Reply;

/** The context of an authenticated request. */
export interface RequestContext {
  operation: MockOperation;
  organization: Organization;
  variants: MockVariants;
  /** The decoded `{id}` or `{listId}` of the path; empty if the path has none. */
  id: string;
  query: URLSearchParams;
  /** Parses the request's JSON, or refuses it. */
  json: () => unknown;
  /** The `{base_url}` of the request, for links. */
  baseUrl: string;
  /** Notes that a variant decided, as the document is silent. */
  stance: (variant: keyof MockVariants) => void;
}

export interface MockEndpoint {
  operation: MockOperation;
  /** Method and path, as in the document. */
  route: string;
  method: "GET" | "POST";
  /** Matches the path after the base URL; its group is the id. */
  path: RegExp;
  respond: (context: RequestContext) => Reply;
}

/** An endpoint of the document, such as `endpoint("v1.customers.get", "GET /api/v1/customer/{id}", getCustomer)`. */
export function endpoint(
  operation: MockOperation,
  route: `${MockEndpoint["method"]} /${string}`,
  respond: MockEndpoint["respond"],
): MockEndpoint {
  const [method, path = ""] = route.split(" ");
  // Safe: the route begins with one of the two.
  return {
    operation,
    route,
    method: method as "GET" | "POST",
    path: new RegExp(`^${path.replace(/\{\w+\}/, "([^/]+)")}$`),
    respond,
  };
}

/** "All other status transitions": whether an opt-in replaces a refusal. If not, it counts as omitted. */
export function keepRefusals(
  fields: ContactFields,
  optIns: readonly ("email_opt_in" | "phone_opt_in")[],
  variant: "canV1Resubscribe" | "canV2Resubscribe",
  { organization, variants, stance }: RequestContext,
): void {
  const existing = organization.find(fields);
  for (const optIn of optIns) {
    if (fields[optIn] !== "SUBSCRIBED" || existing?.[optIn] !== "UNSUBSCRIBED") continue;
    stance(variant);
    if (!variants[variant]) delete fields[optIn];
  }
}

/** The items of one page, and the totals. "page number", "items per page": integers from 1; a limit above the maximum is the maximum. */
export function pageOf<Item>(
  items: readonly Item[],
  query: URLSearchParams,
  { defaultLimit, maxLimit }: { defaultLimit: number; maxLimit: number },
) {
  const parse = (name: string, missing: number): number => {
    const sent = query.get(name);
    if (sent === null) return missing;
    if (/^\d+$/.test(sent) && Number(sent) >= 1) return Number(sent);
    throw refusalOf(name, `${name} must be an integer from 1`);
  };
  const page = parse("page", 1);
  const limit = Math.min(parse("limit", defaultLimit), maxLimit);
  const [start, total] = [(page - 1) * limit, items.length];
  return { items: items.slice(start, start + limit), page, limit, total, pages: Math.ceil(total / limit) };
}
