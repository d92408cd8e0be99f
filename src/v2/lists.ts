import { type ListOptions, type Paginator, listPages } from "../pagination/paginator.ts";
import type { CallEndpoint } from "../transport/transport.ts";
import { listLists } from "./endpoints.ts";
import type { List, V2ListQuery } from "./schemas/list.ts";

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
   * @throws AudienceError of another class if the call fails.
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
