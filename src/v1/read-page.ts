import type { PageReading } from "../pagination/paginator.ts";
import { isRecord } from "../schema/kind-of.ts";
import { describeShape, UndecodableResponse } from "../schema/response.ts";
import { findItems, wayOut } from "./find-items.ts";
import { parseSigns, type FoundPage } from "./page-signs.ts";
import { callParsePage, type ParsePage } from "./parse-page.ts";

export type { ParsePage } from "./parse-page.ts";

export interface PageDecoder<T> {
  readonly operation: string;
  /** The item as it is given to the user; `undefined` where it has no id. */
  readonly decodeItem: (value: unknown) => T | undefined;
  readonly parsePage?: ParsePage | undefined;
}

/** Reads a v1 list answer of any usual shape. Throws `UnreadableAnswer` where the items, or the id of one, are not found. */
export function parseV1Page<T>(body: unknown, decodePage: PageDecoder<T>): PageReading<T> {
  const { items, ...signs } = decodePage.parsePage
    ? callParsePage(decodePage.parsePage, body, decodePage.operation)
    : understand(body, decodePage.operation);
  return {
    items: items.map((item, at) => decodeItemAt(item, at, decodePage.decodeItem)),
    ...signs,
    raw: body,
  };
}

function understand(body: unknown, operation: string): FoundPage {
  if (isEmptyAsNull(body)) return { items: [], ...parseSigns(body, 0) };
  const items = findItems(body, operation);
  if (items.length === 0 && saysFailure(body)) {
    throw new UndecodableResponse("its body holds no items and says that the call failed.");
  }
  return { items, ...parseSigns(body, items.length) };
}

/** Some servers write an empty array as null. Taken for one only where a total of 0 says so too. */
function isEmptyAsNull(body: unknown): boolean {
  if (!isRecord(body)) return false;
  const data = body["data"];
  const place = isRecord(data) ? data : body;
  if (!Object.values(place).includes(null) || Object.values(place).some(Array.isArray)) return false;
  const { totalItems, totalPages } = parseSigns(body, 0);
  return totalItems === 0 || (totalItems === undefined && totalPages === 0);
}

/** In a 2xx without items: read as an empty list, this would hide a failure. */
function saysFailure(body: unknown): boolean {
  if (!isRecord(body)) return false;
  const { success, status, errors } = body;
  return (
    success === false ||
    status === false ||
    status === "error" ||
    (Array.isArray(errors) && errors.length > 0)
  );
}

function decodeItemAt<T>(item: unknown, at: number, decodeItem: (value: unknown) => T | undefined): T {
  try {
    const read = decodeItem(item);
    if (read !== undefined) return read;
    throw new UndecodableResponse(
      `item ${at} of its list has no id: it is ${describeShape(item)}. ${wayOut}`,
    );
  } catch (error) {
    if (error instanceof UndecodableResponse) throw error;
    // What JSON.parse gave throws nothing; what a parsePage of the caller's made of it may.
    throw new UndecodableResponse(`item ${at} of its list cannot be read: a getter of it throws.`);
  }
}
