import { codeOf, isObject, valueAt, type JsonObject, type Path } from "./shape.ts";

/** The place of the items in the body of a list. */
export interface ListShape {
  /** The keys that lead to the items; none for a bare array. */
  readonly path: Path;
  readonly items: readonly unknown[];
}

/** Arrays that are not the list. */
const otherArrays = /^_?(errors|warnings|messages|links|meta|included|facets|filters|sort)$/i;

/** Finds the items of a list: the longest array of objects in its body, an empty one only if there is no other. */
export function findList(body: unknown): ListShape | undefined {
  const found = arraysIn(body, []);
  const data = found.find(({ path }) => path.join(".") === "data");
  return data ?? found.toSorted((one, other) => other.items.length - one.items.length)[0];
}

function arraysIn(value: unknown, path: Path): ListShape[] {
  if (Array.isArray(value)) return value.length === 0 || isObject(value[0]) ? [{ path, items: value }] : [];
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

const isCount = (value: unknown): boolean => typeof value === "number" || /^\d+$/.test(String(value));

/** The values that describe a page, by their names. */
const roles = {
  total: [/^total(_?(items|count|records|results|elements))?$/i, isCount],
  page: [/^(current_?)?page$/i, isCount],
  limit: [/^(limit|(items_?)?per_?page|page_?size)$/i, isCount],
  pages: [/^(((total|num)_?)?pages|pages?_?count|last_?page)$/i, isCount],
  next: [
    /^(next(_?(page|url|link|cursor))*|has_?(more|next(_?page)?))$/i,
    (value: unknown) => !Array.isArray(value),
  ],
} as const;

/** The path of the value with this role in the body of a list, outside its items. */
export function rolePath(value: unknown, role: keyof typeof roles, path: Path = []): Path | undefined {
  if (!isObject(value)) return undefined;
  const [name, fits] = roles[role];
  for (const [key, inner] of Object.entries(value)) {
    const here = [...path, key];
    const found = name.test(key) && fits(inner) ? here : rolePath(inner, role, here);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The number with this role in the body of a list, outside its items. */
export function pageNumber(body: unknown, role: Exclude<keyof typeof roles, "next">): number | undefined {
  const path = rolePath(body, role);
  return path && Number(valueAt(body, path));
}

/** The `v1List` of a mock with this unusual body: its items, and the numbers with a known role. */
export function v1ListCode(body: unknown, { path }: ListShape): string {
  const code = codeOf(body, (keys, value) => {
    if (keys.join("/") === path.join("/")) return "items";
    const key = keys.at(-1) ?? "";
    if (typeof value !== "number") return undefined;
    if (roles.pages[0].test(key)) return "Math.ceil(total / limit)";
    return (["total", "page", "limit"] as const).find((role) => roles[role][0].test(key));
  });
  return `(items, page, limit, total) => (${code})`;
}
