import type { Endpoint } from "../endpoint.ts";
import { LIMITS } from "../limits.ts";
import type { DecodedPage } from "../pagination/has-next-page.ts";
import { type ListOptions, type Paginator, listPages } from "../pagination/paginator.ts";
import { UndecodableResponse, describeShape } from "../schema/parse-response.ts";
import type { CallEndpoint } from "../transport/transport.ts";
import { findPage, parsePageHeaders } from "./list-page.ts";
import { callParsePage, type ParsePage } from "./parse-page.ts";

/** A v1 list: its endpoint, and how its items are decoded. */
interface ListSettings<T> extends Pick<Endpoint<undefined, T>, "operation" | "path" | "query"> {
  /** Decodes an item for the user; `undefined` without an id. */
  readonly decodeItem: (value: unknown) => T | undefined;
  readonly parsePage?: ParsePage | undefined;
}

export function v1List<T extends { readonly id: string }>(
  call: CallEndpoint,
  { decodeItem, parsePage, ...endpoint }: ListSettings<T>,
) {
  const list: Endpoint<undefined, DecodedPage<T>> = {
    method: "GET",
    ...endpoint,
    decode: ({ body, headers }) => {
      const page = parseV1Page(body, { operation: endpoint.operation, decodeItem, parsePage });
      const { totalItems, hasNextPage } = parsePageHeaders(headers);
      return {
        ...page,
        totalItems: page.totalItems ?? totalItems,
        hasNextPage: page.hasNextPage ?? hasNextPage,
      };
    },
  };
  const settings = { call, endpoint: list, longestPage: LIMITS.limit.max, identify: ({ id }: T) => id };
  return (query: object | undefined, options: ListOptions | undefined): Paginator<T> =>
    listPages({ ...settings, query, options });
}

/** Decodes a v1 list response of any usual shape. Throws `UndecodableResponse` if items or an id are missing. */
export function parseV1Page<T>(
  body: unknown,
  { operation, decodeItem, parsePage }: Omit<ListSettings<T>, "path" | "query">,
): DecodedPage<T> {
  const { items, ...info } = parsePage
    ? callParsePage(parsePage, body, operation)
    : findPage(body, operation);
  const decoded = items.map((item, at) => {
    const value = decodeItem(item);
    if (value !== undefined) return value;
    throw new UndecodableResponse(
      `item ${at} of its list has no id: it is ${describeShape(item)}. Let \`parsePage\` give each item an id: { ...row, id: row.uuid }.`,
    );
  });
  return { items: decoded, ...info, raw: body };
}
