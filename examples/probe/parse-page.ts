import type { ParsePage } from "audience-sdk";
import { findList, rolePath } from "./list-shape.ts";
import { isObject, valueAt, type JsonObject, type Path } from "./shape.ts";

/** A `parsePage` for the lists of an account: the function, and its code. */
export interface WrittenParsePage {
  readonly parse: ParsePage;
  readonly code: string;
}

/** Writes the `parsePage` for a list like this body. Undefined where the body holds no array of objects. */
export function writeParsePage(body: unknown): WrittenParsePage | undefined {
  const shape = findList(body);
  if (shape === undefined) return undefined;
  const opener = openerOf(shape.items.filter(isObject));
  const [totalItems, totalPages] = [rolePath(body, "total"), rolePath(body, "pages")];
  const next = nextOf(body);
  const items = codeOf(shape.path);
  const parts = [
    `items: ${opener ? `Array.from(${items}, ${opener.code})` : items}`,
    ...(totalItems ? [`totalItems: ${codeOf(totalItems)}`] : []),
    ...(totalPages ? [`totalPages: ${codeOf(totalPages)}`] : []),
    ...(next ? [`hasNextPage: Boolean(${codeOf(next)})`] : []),
  ];
  return {
    code: `(body) => ({ ${parts.join(", ")} })`,
    parse: (page) => ({
      items: Array.from(Object(valueAt(page, shape.path)) as unknown[], opener?.open ?? ((row) => row)),
      ...(totalItems && { totalItems: Number(valueAt(page, totalItems)) }),
      ...(totalPages && { totalPages: Number(valueAt(page, totalPages)) }),
      ...(next && { hasNextPage: Boolean(valueAt(page, next)) }),
    }),
  };
}

/** `Object(body)` compiles in TypeScript too, where the body is `unknown`. */
function codeOf(path: Path): string {
  return `Object(body)${accessOf(path)}`;
}

function accessOf(path: Path): string {
  return path.map((key) => (/^[a-z_$][\w$]*$/i.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`)).join("");
}

interface Opener {
  readonly open: (row: unknown) => unknown;
  readonly code: string;
}

/** What makes items of rows that have their ids elsewhere: inside another object, or under another key. */
function openerOf(rows: readonly JsonObject[]): Opener | undefined {
  const [row] = rows;
  if (row === undefined || "id" in row) return undefined;
  const inner = Object.keys(row).find((key) =>
    rows.every((each) => isObject(each[key]) && "id" in each[key]),
  );
  if (inner === "data") return undefined;
  if (inner !== undefined)
    return { open: (each) => valueAt(each, [inner]), code: `(row) => row${accessOf([inner])}` };
  const id = Object.keys(row).find(
    (key) => /^_?(uu|gu)?id$|_(uu)?id$|[a-z]I[Dd]$/i.test(key) && isUnique(rows, key),
  );
  if (id === undefined) return undefined;
  return {
    open: (each) => (isObject(each) ? { ...each, id: each[id] } : each),
    code: `(row) => ({ ...row, id: row${accessOf([id])} })`,
  };
}

function isUnique(rows: readonly JsonObject[], key: string): boolean {
  const values = rows.map((row) => row[key]).filter((value) => ["string", "number"].includes(typeof value));
  return new Set(values).size === rows.length;
}

/** The path of the link or flag for the next page. */
function nextOf(body: unknown): Path | undefined {
  const path = rolePath(body, "next");
  return path && isObject(valueAt(body, path)) ? [...path, "href"] : path;
}
