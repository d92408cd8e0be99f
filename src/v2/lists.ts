import { type ListOptions, type Paginator, listPages } from "../pagination/paginator.ts";
import type { CallEndpoint } from "../transport/transport.ts";
import { listLists } from "./endpoints.ts";
import type { List, V2ListQuery } from "./schemas/list.ts";

/** The lists of the v2 family. */
export interface V2Lists {
  /**
   * Lists all lists (`GET /v2/lists`), in pages of the service's size unless a `limit` is given. Sends nothing until
   * awaited or iterated.
   *
   * ```ts
   * for await (const list of audience.v2.lists.list()) console.log(list.uuid, list.name);
   * ```
   */
  list(query?: V2ListQuery, options?: ListOptions): Paginator<List>;
}

/** The methods use no `this`, so they also work without their object. */
export function v2Lists(call: CallEndpoint): V2Lists {
  return {
    list: (query, options) =>
      listPages({ call, endpoint: listLists, query, options, identify: ({ uuid }) => uuid }),
  };
}
