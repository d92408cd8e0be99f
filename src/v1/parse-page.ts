import { isRecord } from "../schema/kind-of.ts";
import { describeShape, UndecodableResponse } from "../schema/response.ts";
import { ignoreRejection, errorMessage } from "../schema/user-function.ts";
import type { FoundPage } from "./page-info.ts";

/** The result of `parsePage`. Totals and `hasNextPage` are optional. */
export interface ParsedPage {
  /** The items, unchanged: resources, envelopes or flat objects. */
  readonly items: readonly unknown[];
  /** The number of pages of this size. */
  readonly totalPages?: number | null | undefined;
  /** The number of items of the whole list. */
  readonly totalItems?: number | null | undefined;
  /** Default: the totals decide; without totals, a page shorter than its limit is the last. */
  readonly hasNextPage?: boolean | null | undefined;
}

/**
 * Finds the items of a v1 list response, whose shape is not documented ("Endpoints"). It replaces the client's own
 * search, for each page. Each item needs an id at a usual place.
 *
 * If it throws, or returns an invalid value, the call rejects with an `UnexpectedResponseError`.
 *
 * ```ts
 * new AudienceClient({ …, parsePage: (body) => ({ items: body.result.people, totalItems: body.result.size }) });
 * ```
 */
export type ParsePage = (body: unknown, context: { operation: string }) => ParsedPage;

/** Calls the user's `parsePage` and checks its result. */
export function callParsePage(parsePage: ParsePage, body: unknown, operation: string): FoundPage {
  const parsed: unknown = call(parsePage, body, operation);
  ignoreRejection(parsed);
  try {
    return check(parsed);
  } catch (error) {
    if (error instanceof UndecodableResponse) throw error;
    throw invalidResult("returned a value that cannot be read");
  }
}

function check(parsed: unknown): FoundPage {
  if (parsed instanceof Promise) throw invalidResult("returned a Promise: it must return its result at once");
  if (!isRecord(parsed)) throw invalidResult(`returned ${describeShape(parsed)}: it must return { items }`);
  const { items, totalPages, totalItems, hasNextPage } = parsed;
  if (!Array.isArray(items))
    throw invalidResult(`returned \`items\` as ${describeShape(items)}: it must be an array`);
  if (typeof (hasNextPage ?? false) !== "boolean") {
    throw invalidResult(`returned \`hasNextPage\` as ${describeShape(hasNextPage)}: it must be a boolean`);
  }
  return {
    items,
    totalPages: checkCount("totalPages", totalPages),
    totalItems: checkCount("totalItems", totalItems),
    // Safe: the check above refuses all other values.
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
  throw invalidResult(`returned \`${name}\` as ${shown}: it must be an integer from 0`);
}

function invalidResult(problem: string): UndecodableResponse {
  return new UndecodableResponse(`the client's parsePage, called with its body, ${problem}.`);
}
