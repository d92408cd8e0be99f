import type { Organization } from "./organization.ts";
import { Refusal } from "./refusal.ts";
import type { MockOperation, MockVariants } from "./variants.ts";

/** What the service answers, before it is put on the wire. */
export interface Reply {
  status: number;
  /** JSON, or nothing where it is `undefined`. */
  body?: unknown;
  /** Text instead of JSON. */
  plainText?: string;
  headers?: Record<string, string>;
  /** Whether the request changed the books. */
  applied: boolean;
}

/** What an endpoint is given: a request that has been let in. */
export interface RequestContext {
  organization: Organization;
  variants: MockVariants;
  /** The `{id}` or `{listId}` of the path, decoded; empty where the path has none. */
  id: string;
  query: URLSearchParams;
  /** Parses the request's JSON, or refuses it. */
  json: () => unknown;
  /** `{base_url}` as this request came to it, for links. */
  baseUrl: string;
}

export interface MockEndpoint {
  operation: MockOperation;
  method: "GET" | "POST";
  /** Matches the path after the base URL; its group is the id. */
  path: RegExp;
  respond: (context: RequestContext) => Reply;
}

/** "page number", "items per page": integers from 1, values above the cap are the cap. */
export function parsePageQuery(
  query: URLSearchParams,
  defaultLimit: number,
  maxLimit: number,
): { page: number; limit: number } {
  const parse = (name: string, missing: number): number => {
    const sent = query.get(name);
    if (sent === null) return missing;
    if (/^\d+$/.test(sent) && Number(sent) >= 1) return Number(sent);
    const message = `${name} must be an integer from 1`;
    throw new Refusal(400, message, [{ path: name, message }]);
  };
  return { page: parse("page", 1), limit: Math.min(parse("limit", defaultLimit), maxLimit) };
}

/** The items of one page, with what is told about all of them. */
export function slicePage<Item>(
  items: readonly Item[],
  page: number,
  limit: number,
): { items: Item[]; total: number; pages: number } {
  const start = (page - 1) * limit;
  return {
    items: items.slice(start, start + limit),
    total: items.length,
    pages: Math.ceil(items.length / limit),
  };
}
