import * as z from "zod";
import type { DecodedPage } from "../pagination/cursor.ts";
import { parseResponse, UndecodableResponse } from "../schema/response-values.ts";
import { describeShape } from "../values/describe-shape.ts";
import { errorMessage, ignoreRejection } from "../values/error-message.ts";

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
 * Finds the items of a v1 list response, whose shape is not documented ("Endpoints"). On each page it replaces the
 * client's own search, also for totals, links and flags. Each item needs an id at a usual place.
 *
 * If it throws, or returns an invalid value, the call rejects with an `UnexpectedResponseError`.
 *
 * ```ts
 * new AudienceClient({ …, parsePage: (body) => ({ items: body.result.people, totalItems: body.result.size }) });
 * ```
 */
export type ParsePage = (body: unknown, context: { operation: string }) => ParsedPage;

const count = z.int().min(0).nullish();

const parsedPageSchema = z.object({
  items: z.array(z.unknown()),
  totalPages: count,
  totalItems: count,
  hasNextPage: z.boolean().nullish(),
}) satisfies z.ZodType<ParsedPage>;

/** The items of a page, and what it says of the rest of the list. */
export type FoundPage = Omit<DecodedPage<unknown>, "raw">;

/** Throws `UndecodableResponse` if `parsePage` fails. */
export function callParsePage(parsePage: ParsePage, body: unknown, operation: string): FoundPage {
  const subject = "the client's parsePage";
  let parsed: unknown;
  try {
    parsed = parsePage(body, { operation });
  } catch (error) {
    throw new UndecodableResponse(
      `${subject} threw ${errorMessage(error)}; the body is ${describeShape(body)}.`,
    );
  }
  ignoreRejection(parsed);
  const problem = `${subject} returned another value than { items, totalItems?, totalPages?, hasNextPage? }`;
  const { items, totalPages, totalItems, hasNextPage } = parseResponse(parsedPageSchema, parsed, problem);
  return {
    items,
    totalPages: totalPages ?? undefined,
    totalItems: totalItems ?? undefined,
    hasNextPage: hasNextPage ?? undefined,
  };
}
