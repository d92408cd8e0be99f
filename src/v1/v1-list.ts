import * as z from "zod";
import type { Endpoint, ParsedResponse } from "../endpoint.ts";
import { LIMITS } from "../limits.ts";
import type { DecodedPage } from "../pagination/cursor.ts";
import { decodeItems, refuseFailure } from "../pagination/list-items.ts";
import { type ListOptions, type Paginator, listPages } from "../pagination/paginator.ts";
import { parseResponse, UndecodableResponse } from "../schema/response-values.ts";
import type { CallEndpoint } from "../transport/transport.ts";
import { describeShape, errorMessage, ignoreRejection } from "../values/in-words.ts";
import { findListPath, itemsAt, parsePageInfo, type ListPath, type ListSigns } from "./list-shapes.ts";

/** The result of `parsePage`. Totals and `hasNextPage` are optional. */
export interface ParsedPage {
  /** The items, unchanged: resources, envelopes or flat objects. */
  readonly items: readonly unknown[];
  /** The number of pages of this size in the whole list. */
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

interface ListSettings<T> extends Pick<Endpoint<undefined, T>, "operation" | "path"> {
  readonly querySchema: z.ZodType;
  /** Decodes an item of the list for the user; `undefined` without an id. */
  readonly decodeItem: (value: unknown) => T | undefined;
  readonly names: ListSigns["names"];
  readonly parsePage?: ParsePage | undefined;
}

export function v1List<T extends { readonly id: string }>(
  call: CallEndpoint,
  { decodeItem, names, parsePage, ...list }: ListSettings<T>,
) {
  const longestPage = LIMITS.limit.max;
  const identify = ({ id }: T) => id;
  return (query: object | undefined, options: ListOptions | undefined): Paginator<T> => {
    const parsePageOfList = parsePage
      ? ({ body }: ParsedResponse) => callParsePage(parsePage, body, list.operation)
      : pageParser({ names, isItem: (item) => decodeItem(item) !== undefined });
    const decode = (response: ParsedResponse): DecodedPage<T> => {
      const page = parsePageOfList(response);
      return { ...page, items: decodeItems(page.items, decodeItem, "id", wayOutWithoutId) };
    };
    return listPages({ call, ...list, query, options, decode, longestPage, identify });
  };
}

const wayOutWithoutId = " Let `parsePage` give each item an id: { ...row, id: row.uuid }.";

/** Parses the pages of one list: the first one shows where its items are. */
function pageParser(signs: ListSigns): (response: ParsedResponse) => DecodedPage<unknown> {
  let path: ListPath | undefined;
  return ({ body, headers }) => {
    path ??= findListPath(body, signs);
    const items = itemsAt(body, path);
    refuseFailure(items, body);
    return { items, ...parsePageInfo(body, path, headers) };
  };
}

const countSchema = z.int().min(0).nullish();

const parsedPageSchema = z.object({
  items: z.array(z.unknown()),
  totalPages: countSchema,
  totalItems: countSchema,
  hasNextPage: z.boolean().nullish(),
}) satisfies z.ZodType<ParsedPage>;

function callParsePage(parsePage: ParsePage, body: unknown, operation: string): DecodedPage<unknown> {
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
