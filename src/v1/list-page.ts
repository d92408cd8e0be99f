import type { DecodedPage } from "../pagination/has-next-page.ts";
import { isRecord } from "../schema/kind-of.ts";
import { describeShape, UndecodableResponse } from "../schema/response.ts";
import { findItems, parsePageHint } from "./list-items.ts";
import { parsePageInfo, type FoundPage } from "./page-info.ts";
import { callParsePage, type ParsePage } from "./parse-page.ts";

export type { ParsePage } from "./parse-page.ts";

export interface PageDecoder<T> {
  readonly operation: string;
  /** Decodes an item for the user; `undefined` without an id. */
  readonly decodeItem: (value: unknown) => T | undefined;
  readonly parsePage?: ParsePage | undefined;
}

/** Decodes a v1 list response of any usual shape. Throws `UndecodableResponse` if items or an id are missing. */
export function parseV1Page<T>(body: unknown, decodePage: PageDecoder<T>): DecodedPage<T> {
  const { items, ...info } = decodePage.parsePage
    ? callParsePage(decodePage.parsePage, body, decodePage.operation)
    : findPage(body, decodePage.operation);
  return {
    items: items.map((item, at) => decodeItemAt(item, at, decodePage.decodeItem)),
    ...info,
    raw: body,
  };
}

function findPage(body: unknown, operation: string): FoundPage {
  if (isEmptyAsNull(body)) return { items: [], ...parsePageInfo(body, 0) };
  const items = findItems(body, operation);
  if (items.length === 0 && reportsFailure(body)) {
    throw new UndecodableResponse("its body holds no items and says that the call failed.");
  }
  return { items, ...parsePageInfo(body, items.length) };
}

/** Some servers write an empty array as null. It counts as empty only with a total of 0. */
function isEmptyAsNull(body: unknown): boolean {
  if (!isRecord(body)) return false;
  const data = body["data"];
  const holder = isRecord(data) ? data : body;
  if (!Object.values(holder).includes(null) || Object.values(holder).some(Array.isArray)) return false;
  const { totalItems, totalPages } = parsePageInfo(body, 0);
  return totalItems === 0 || (totalItems === undefined && totalPages === 0);
}

/** A 2xx without items that reports a failure must not become an empty list. */
function reportsFailure(body: unknown): boolean {
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
    const decoded = decodeItem(item);
    if (decoded !== undefined) return decoded;
    throw new UndecodableResponse(
      `item ${at} of its list has no id: it is ${describeShape(item)}. ${parsePageHint}`,
    );
  } catch (error) {
    if (error instanceof UndecodableResponse) throw error;
    // The output of JSON.parse never throws; items of the user's parsePage may.
    throw new UndecodableResponse(`item ${at} of its list cannot be read: a getter of it throws.`);
  }
}
