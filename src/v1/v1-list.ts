import type { Endpoint, ParsedResponse } from "../endpoint.ts";
import { LIMITS } from "../limits.ts";
import type { DecodedPage } from "../pagination/cursor.ts";
import { type ListOptions, type Paginator, listPages } from "../pagination/paginator.ts";
import { UndecodableResponse } from "../schema/response-values.ts";
import type { CallEndpoint } from "../transport/transport.ts";
import { describeShape } from "../values/describe-shape.ts";
import { isRecord } from "../values/predicates.ts";
import { findListPath, itemsAt, objectsAround, type ListPath, type ListSigns } from "./list-page.ts";
import { parsePageInfo } from "./page-info.ts";
import { callParsePage, type FoundPage, type ParsePage } from "./parse-page.ts";

/** A v1 list: its endpoint, and how its items are decoded. */
interface ListSettings<T> extends Pick<Endpoint<undefined, T>, "operation" | "path" | "query"> {
  /** Decodes an item for the user; `undefined` without an id. */
  readonly decodeItem: (value: unknown) => T | undefined;
  /** The usual names of the list. */
  readonly names: ListSigns["names"];
  readonly parsePage?: ParsePage | undefined;
}

export function v1List<T extends { readonly id: string }>(
  call: CallEndpoint,
  { decodeItem, names, parsePage, ...endpoint }: ListSettings<T>,
) {
  const settings = { call, longestPage: LIMITS.limit.max, identify: ({ id }: T) => id };
  return (query: object | undefined, options: ListOptions | undefined): Paginator<T> => {
    const parse = parsePage
      ? ({ body }: ParsedResponse) => callParsePage(parsePage, body, endpoint.operation)
      : pageParser({ names, isItem: (item) => decodeItem(item) !== undefined });
    const decode = (response: ParsedResponse): DecodedPage<T> => {
      const { items, ...info } = parse(response);
      return {
        ...info,
        items: items.map((item, index) => decodeAt(index, item, decodeItem)),
        raw: response.body,
      };
    };
    return listPages({ ...settings, endpoint: { method: "GET", ...endpoint, decode }, query, options });
  };
}

/** Parses the pages of one list: the first one shows where its items are. */
function pageParser(signs: ListSigns): (response: ParsedResponse) => FoundPage {
  let path: ListPath | undefined;
  return ({ body, headers }) => {
    path ??= findListPath(body, signs);
    const items = itemsAt(body, path);
    if (items.length === 0 && reportsFailure(body)) {
      throw new UndecodableResponse("its body holds no items and says that the call failed.");
    }
    return { items, ...parsePageInfo(objectsAround(body, path), headers) };
  };
}

/** A 2xx without items that reports a failure must not become an empty list (D28). */
function reportsFailure(body: unknown): boolean {
  if (!isRecord(body)) return false;
  const { success, status, errors } = body;
  const hasErrors = Array.isArray(errors) && errors.length > 0;
  return success === false || status === false || status === "error" || hasErrors;
}

function decodeAt<T>(index: number, item: unknown, decodeItem: (value: unknown) => T | undefined): T {
  const value = decodeItem(item);
  if (value !== undefined) return value;
  throw new UndecodableResponse(
    `item ${index} of its list has no id: it is ${describeShape(item)}. Let \`parsePage\` give each item an id: { ...row, id: row.uuid }.`,
  );
}
