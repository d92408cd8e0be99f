import * as z from "zod";
import type { ParsedResponse } from "../endpoint.ts";
import type { DecodedPage } from "../pagination/end-of-list.ts";
import { decodeItems, refuseFailure } from "../pagination/page.ts";
import { type ListEndpoint, type ListOptions, listPages, type Paginator } from "../pagination/paginator.ts";
import { parseCount, parseId, parseResponse } from "../schema/response-values.ts";
import type { CallEndpoint } from "../transport/transport.ts";
import { describeBody } from "../values/in-words.ts";
import { isRecord, withoutPrototype } from "../values/predicates.ts";
import { v2ListPageSchema, v2ListQuerySchema, type List, type V2ListQuery } from "./list-schema.ts";

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
  return { list: (query, options) => listPages(call, listLists, query, options) };
}

const listLists: ListEndpoint<List> = {
  operation: "v2.lists.list",
  path: "/v2/lists",
  query: v2ListQuerySchema,
  identify: ({ uuid }) => uuid,
  pageDecoder: () => decodeListPage,
};

const receivedListPageSchema = v2ListPageSchema.extend({
  data: v2ListPageSchema.shape.data.extend({ lists: z.array(z.unknown()) }),
});

/** Decodes a page of lists: the lists and each `uuid` are required; totals and page size are optional. */
function decodeListPage({ body }: ParsedResponse): DecodedPage<List> {
  const problem = `its body is not the documented list but ${describeBody(body)}`;
  const data = withoutPrototype(parseResponse(receivedListPageSchema, body, problem).data);
  refuseFailure(data.lists, body);
  return {
    items: decodeItems(data.lists, decodeList, "uuid"),
    limit: parseCount(data.items_per_page),
    totalItems: parseCount(data.total_items),
    totalPages: parseCount(data.total_pages),
  };
}

function decodeList(list: unknown): List | undefined {
  if (!isRecord(list)) return undefined;
  const uuid = parseId(list["uuid"]);
  return uuid === undefined ? undefined : { ...list, uuid };
}
