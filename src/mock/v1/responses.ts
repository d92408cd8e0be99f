import type { Problem } from "../json-rules.ts";
import { pageOf, type RequestContext, type Reply } from "../mock-endpoint.ts";
import type { MockContact, MockGroup } from "../state/organization-state.ts";
import type { MockVariants } from "../variants.ts";

type Item = Record<string, unknown>;

/** "Limits": the page size of both v1 lists. */
const PAGE_SIZE = { defaultLimit: 10, maxLimit: 100 };

const CONSENTS = ["email_opt_in", "phone_opt_in", "is_suppressed"];

const DOCUMENTED = ["email", "phone", "first_name", "email_opt_in", "source", "created", "updated"];

function attributesOf(contact: MockContact, variants: MockVariants): Item {
  const { id: _id, consents: _consents, other_fields: _others, ...attributes } = contact;
  if (variants.profileAttributes === "all") return { ...attributes };
  return Object.fromEntries(Object.entries(attributes).filter(([key]) => DOCUMENTED.includes(key)));
}

/** "v1 contact (profile) response envelope". */
export function profileEnvelope(
  contact: MockContact,
  { variants, baseUrl }: RequestContext,
): { data: Item & { attributes: Item }; links: Item } {
  const self = `${baseUrl}/api/v1/customer/${contact.id}`;
  const relationships = { lists: { links: { related: `${self}/lists` } } };
  return {
    data: { type: "profile", id: contact.id, attributes: attributesOf(contact, variants), relationships },
    links: { self },
  };
}

export function listedCustomer(contact: MockContact, context: RequestContext): Item {
  const { data, links } = profileEnvelope(contact, context);
  if (!context.variants.v1ListedConsents) for (const key of CONSENTS) delete data.attributes[key];
  if (context.variants.v1ListedCustomer === "envelope") return { data, links };
  if (context.variants.v1ListedCustomer === "resource") return { ...data, links };
  return { id: contact.id, ...data.attributes };
}

function groupResource({ id, type, ...attributes }: MockGroup): Item {
  return { type: type.toLowerCase(), id, attributes: { ...attributes, type } };
}

export function listedGroup(group: MockGroup, { variants }: RequestContext): Item {
  return variants.v1ListedGroup === "flat" ? { ...group } : groupResource(group);
}

/** "get one list". */
export function singleGroup(group: MockGroup, { variants, baseUrl }: RequestContext): unknown {
  if (variants.v1Group === "flat") return { ...group };
  if (variants.v1Group === "data") return { data: { ...group } };
  return {
    data: groupResource(group),
    links: { self: `${baseUrl}/api/v1/contact-groups/${encodeURIComponent(group.id)}` },
  };
}

/** "list contacts", "list lists and segments": the shape is not shown, so it is an option. */
export function listResponse<Source>(
  context: RequestContext,
  sources: readonly Source[],
  { name, path, itemOf }: { name: string; path: string; itemOf: (source: Source) => Item },
): Reply {
  const { v1List, v1Paging, v1PagingCase } = context.variants;
  const { items: listed, page, limit, total, pages } = pageOf(sources, context.query, PAGE_SIZE);
  const items = listed.map(itemOf);
  const numbers =
    v1PagingCase === "snake"
      ? { current_page: page, items_per_page: limit, total_pages: pages, total_items: total }
      : { currentPage: page, itemsPerPage: limit, totalPages: pages, totalItems: total };
  const paging = {
    links: { links: pageLinks(context, path, { page, limit, pages }) },
    meta: { meta: numbers },
    pagination: { pagination: numbers },
    totals: numbers,
    none: {},
  }[v1Paging];
  const bodies = {
    array: items,
    data: { data: items, ...paging },
    "data-key": { data: { [name]: items, ...paging } },
    "root-key": { [name]: items, ...paging },
  };
  const body = typeof v1List === "function" ? v1List(items, page, limit, total) : bodies[v1List];
  return { status: 200, body, applied: false };
}

function pageLinks(
  { baseUrl, query }: RequestContext,
  path: string,
  { page, limit, pages }: { page: number; limit: number; pages: number },
): Item {
  const last = Math.max(1, pages);
  const to = (target: number) => {
    const search = new URLSearchParams(query);
    search.set("page", String(target));
    search.set("limit", String(limit));
    return `${baseUrl}${path}?${search.toString()}`;
  };
  return {
    self: to(page),
    first: to(1),
    prev: page > 1 ? to(page - 1) : null,
    next: page < last ? to(page + 1) : null,
    last: to(last),
  };
}

const TITLES: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  429: "Too Many Requests",
  500: "Internal Server Error",
};

/** "The v1 error body shape: not shown." */
export function v1ErrorReply(
  { v1Error: shape }: MockVariants,
  status: number,
  message: string,
  problems: readonly Problem[] = [],
): Reply {
  if (typeof shape === "function")
    return { status, body: shape({ status, message, problems }), applied: false };
  if (shape === "text") return { status, plainText: message, applied: false };
  if (shape === "empty") return { status, applied: false };
  const title = TITLES[status] ?? "Error";
  const code = title.toLowerCase().replaceAll(" ", "_");
  const each = problems.length > 0 ? problems : [{ path: "", message }];
  const jsonApi = ({ path, message: detail }: Problem) => ({
    status: String(status),
    title,
    detail,
    source: { pointer: `/${path.replaceAll(".", "/")}` },
  });
  const bodies = {
    message: { message },
    error: { error: message },
    "error-object": { error: { code, message } },
    errors: { errors: each.map((problem) => ({ field: problem.path, message: problem.message })) },
    "json-api": { errors: each.map(jsonApi) },
    "status-code": { statusCode: status, message: each.map((problem) => problem.message), error: title },
  };
  return { status, body: bodies[shape], applied: false };
}
