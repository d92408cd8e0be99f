import * as z from "zod";
import type { ParsedResponse } from "../endpoint.ts";
import type { DecodedPage } from "../pagination/cursor.ts";
import { type ListOptions, type Paginator, listPages } from "../pagination/paginator.ts";
import {
  parseCount,
  parseResponse,
  receivedId,
  requireId,
  UndecodableResponse,
} from "../schema/response-values.ts";
import type { CallEndpoint } from "../transport/transport.ts";
import { describeBody } from "../values/in-words.ts";
import { v2ListPageSchema, v2ListQuerySchema, type List, type V2ListQuery } from "./schemas/list.ts";

/** The lists of the v2 family. */
export interface V2Lists {
  /**
   * Lists all lists (`GET /v2/lists`): iterated, it gives each list once; awaited, one page. It sends nothing before.
   * Without a `limit` the service sets the size of a page.
   *
   * ```ts
   * for await (const list of audience.v2.lists.list()) console.log(list.uuid, list.name);
   * ```
   *
   * @throws ValidationError, once it is awaited or iterated, if the query is invalid.
   */
  list(query?: V2ListQuery, options?: ListOptions): Paginator<List>;
}

export function v2Lists(call: CallEndpoint): V2Lists {
  return {
    list: (query, options) => listPages({ call, ...listLists, query, options }),
  };
}

const listLists = {
  operation: "v2.lists.list",
  path: "/v2/lists",
  querySchema: v2ListQuerySchema,
  decode: ({ body }: ParsedResponse) => decodeListPage(body),
  identify: ({ uuid }: List) => uuid,
} as const;

const receivedListPageSchema = v2ListPageSchema.extend({
  data: v2ListPageSchema.shape.data.extend({ lists: z.array(z.unknown()) }),
});
const receivedListSchema = z.looseObject({ uuid: receivedId });

/** Decodes a page of lists: the lists and each `uuid` are required; totals and page size are optional. */
function decodeListPage(body: unknown): DecodedPage<List> {
  const problem = `its body is not the documented list but ${describeBody(body)}`;
  const { success, data } = parseResponse(receivedListPageSchema, body, problem);
  if (data.lists.length === 0 && success === false) {
    throw new UndecodableResponse("its body holds no lists and says that the call failed.");
  }
  // One by one: the first wrong list ends the decoding, and a body may hold a hundred thousand lists.
  const decodeList = (item: unknown, index: number): List => {
    const path = `data.lists.${index}`;
    const list = parseResponse(receivedListSchema, item, problem, path);
    return { ...list, uuid: requireId(list.uuid, `${path}.uuid`) };
  };
  return {
    items: data.lists.map(decodeList),
    limit: parseCount(data.items_per_page),
    totalItems: parseCount(data.total_items),
    totalPages: parseCount(data.total_pages),
    raw: body,
  };
}
