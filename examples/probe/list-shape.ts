import { AudienceClient, isAudienceError, type ParsePage } from "audience-sdk";
import { isJson, type Reply } from "./answer.ts";
import { codeOf, isObject, type JsonObject } from "./shape.ts";

/** The place of the items in the body of a list. */
export interface ListShape {
  /** The keys that lead to the items; none for a bare array. */
  readonly path: readonly string[];
  readonly items: readonly unknown[];
}

/** Arrays that are not the list. */
const otherArrays = /^(errors|warnings|links|included|facets|filters|sort)$/i;

/** Finds the items of a list: the only array of its body, or `data`. */
export function findList(body: unknown): ListShape | undefined {
  const found = arraysIn(body, []);
  return found.length === 1 ? found[0] : found.find(({ path }) => path.join(".") === "data");
}

function arraysIn(value: unknown, path: readonly string[]): ListShape[] {
  if (Array.isArray(value)) return [{ path, items: value }];
  if (!isObject(value) || path.length > 3) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    otherArrays.test(key) ? [] : arraysIn(inner, [...path, key]),
  );
}

/** The object that holds the list, and the root. */
export function holdersOf(body: unknown, { path }: ListShape): JsonObject[] {
  const [key = ""] = path;
  const inner = isObject(body) && path.length === 2 ? body[key] : undefined;
  return [inner, body].filter(isObject);
}

/** The roles of numbers that describe a page. */
const roles = {
  total: /^total(_?(items|count|records|results|elements))?$/i,
  page: /^(current_?)?page$/i,
  limit: /^(limit|(items_?)?per_?page|page_?size)$/i,
  pages: /^((total|num)_?pages|pages?_?count|last_?page)$/i,
} as const;

/** The number with this role in the body of a list, outside its items. */
export function pageNumber(value: unknown, role: keyof typeof roles): number | undefined {
  if (!isObject(value)) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    const found = typeof inner === "number" && roles[role].test(key) ? inner : pageNumber(inner, role);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The `v1List` of a mock with this unusual body: its items, and the numbers with a known role. */
export function v1ListCode(body: unknown, { path }: ListShape): string {
  const code = codeOf(body, (keys, value) => {
    if (keys.join("/") === path.join("/")) return "items";
    const key = keys.at(-1) ?? "";
    if (typeof value !== "number") return undefined;
    if (roles.pages.test(key)) return "Math.ceil(total / limit)";
    return (["total", "page", "limit"] as const).find((role) => roles[role].test(key));
  });
  return `(items, page, limit, total) => (${code})`;
}

/** The `parsePage` of a client that reads lists at these places. */
export function parsePageCode(shapes: readonly ListShape[]): string {
  const places = shapes.map(({ path }) => `body${path.map((key) => `?.[${JSON.stringify(key)}]`).join("")}`);
  return `(body) => ({ items: ${[...new Set(places)].join(" ?? ")} })`;
}

/** A list of v1, as the client reads it. */
export interface ReadList {
  readonly ids: readonly string[];
  /** Why the client cannot read it by itself. */
  readonly problem?: string;
  /** Whether it can with the `parsePage` of the report. */
  readonly needsParsePage: boolean;
}

/** Hands the body of a list to a client of its own, which sends nothing: only the client knows what it can read. */
export async function readList(resource: "customers" | "contactGroups", reply: Reply): Promise<ReadList> {
  if (!isJson(reply)) return { ids: [], needsParsePage: false };
  const idsWith = async (parsePage?: ParsePage): Promise<string[]> => {
    const client = new AudienceClient({
      baseUrl: "https://nothing-is-sent.invalid",
      apiKey: "none",
      rateLimiter: false,
      fetch: async () => Response.json(reply.body),
      parsePage,
    });
    const { items } = await client.v1[resource].list();
    return items.map(({ id }) => id);
  };
  try {
    return { ids: await idsWith(), needsParsePage: false };
  } catch (error) {
    if (!isAudienceError(error)) throw error;
    const { message: problem } = error;
    const shape = findList(reply.body);
    if (shape === undefined) return { ids: [], problem, needsParsePage: false };
    try {
      return { ids: await idsWith(() => ({ items: shape.items })), problem, needsParsePage: true };
    } catch (second) {
      if (!isAudienceError(second)) throw second;
      return { ids: [], problem: second.message, needsParsePage: false };
    }
  }
}
