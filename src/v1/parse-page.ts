import { isRecord } from "../schema/kind-of.ts";
import { describeShape, UndecodableResponse } from "../schema/response.ts";
import { ignoreRejection, errorMessage } from "../schema/user-function.ts";
import type { FoundPage } from "./page-info.ts";

/** What `parsePage` found in a list answer. Totals and `hasNextPage` may be left out, where the answer has none. */
export interface ParsedPage {
  /** As they came: resources, envelopes or flat objects. */
  readonly items: readonly unknown[];
  /** Pages in all, at this page size. */
  readonly totalPages?: number | null | undefined;
  /** Items in all, over all pages. */
  readonly totalItems?: number | null | undefined;
  /** Left out, the totals decide; without these, a page shorter than asked for is the last. */
  readonly hasNextPage?: boolean | null | undefined;
}

/**
 * Tells where the items of a v1 list answer are, as its shape is not documented ("Endpoints"). It is asked instead of
 * the usual reading, for each page; each item it gives needs an id, in one of the usual places.
 *
 * What it throws, or gives amiss, ends the call with an `UnexpectedResponseError`.
 *
 * ```ts
 * new AudienceClient({ …, parsePage: (body) => ({ items: body.result.people, totalItems: body.result.size }) });
 * ```
 */
export type ParsePage = (body: unknown, context: { operation: string }) => ParsedPage;

/** Calls `parsePage` and checks what it gives: it is written by the user, perhaps without types. */
export function callParsePage(parsePage: ParsePage, body: unknown, operation: string): FoundPage {
  const parsed: unknown = call(parsePage, body, operation);
  ignoreRejection(parsed);
  try {
    return check(parsed);
  } catch (error) {
    if (error instanceof UndecodableResponse) throw error;
    throw invalidResult("gave a value that cannot be read");
  }
}

function check(parsed: unknown): FoundPage {
  if (parsed instanceof Promise) throw invalidResult("gave a Promise: it must give its result at once");
  if (!isRecord(parsed)) throw invalidResult(`gave ${describeShape(parsed)}: it must give { items }`);
  const { items, totalPages, totalItems, hasNextPage } = parsed;
  if (!Array.isArray(items))
    throw invalidResult(`gave \`items\` as ${describeShape(items)}: it must be an array`);
  if (typeof (hasNextPage ?? false) !== "boolean") {
    throw invalidResult(`gave \`hasNextPage\` as ${describeShape(hasNextPage)}: it must be a boolean`);
  }
  return {
    items,
    totalPages: checkCount("totalPages", totalPages),
    totalItems: checkCount("totalItems", totalItems),
    // True: nothing else is left.
    hasNextPage: (hasNextPage ?? undefined) as boolean | undefined,
  };
}

function call(parsePage: ParsePage, body: unknown, operation: string): unknown {
  try {
    return parsePage(body, { operation });
  } catch (error) {
    throw invalidResult(`threw ${errorMessage(error)}; the body is ${describeShape(body)}`);
  }
}

function checkCount(name: string, value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  const shown = typeof value === "number" ? String(value) : describeShape(value);
  throw invalidResult(`gave \`${name}\` as ${shown}: it must be a whole number from 0`);
}

function invalidResult(problem: string): UndecodableResponse {
  return new UndecodableResponse(`the client's parsePage, asked about its body, ${problem}.`);
}
