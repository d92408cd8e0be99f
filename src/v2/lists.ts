import { listLists } from "./endpoints.ts";
import type { Paginator } from "../pagination.ts";
import type { Caller } from "../transport/transport.ts";
import { listPages, type ListOptions } from "../list-pages.ts";
import type { List, V2ListQuery } from "./schemas/list.ts";

/** The lists of the v2 family. */
export class V2Lists {
  readonly #call: Caller;

  /** @internal Made by its client. */
  constructor(call: Caller) {
    this.#call = call;
  }

  /**
   * All lists (`GET /v2/lists`), in pages of the service's own size unless a `limit` is given. Sends nothing until
   * awaited or iterated.
   *
   * ```ts
   * for await (const list of audience.v2.lists.list()) console.log(list.uuid, list.name);
   * ```
   */
  list(query?: V2ListQuery, options?: ListOptions): Paginator<List> {
    return listPages({
      call: this.#call,
      endpoint: listLists,
      query,
      options,
      identify: ({ uuid }) => uuid,
    });
  }
}
