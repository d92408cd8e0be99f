import * as z from "zod";
import { documented } from "../schema/response-values.ts";
import { unknownKeys } from "../schema/validate.ts";

/**
 * A list ("v2 list"). Only `uuid` is checked; the other keys are typed as documented. Undocumented keys are kept: `list as
 * Record<string, unknown>` reads them.
 */
export type List = {
  /** The unique id of the list. */
  uuid: string;
  /** Display name of the list. */
  name?: string | null | undefined;
  /** Unix timestamp of the list's creation, in seconds. */
  created_at?: number | null | undefined;
  /** The description of the list. */
  description?: string | null | undefined;
};

/** The query of the lists (`GET /v2/lists`). */
export type V2ListQuery = {
  /** From 1; default 1. */
  page?: number | undefined;
  /** Lists per page, from 1; the service's default is not documented. */
  limit?: number | undefined;
};

/** The query of the lists (`GET /v2/lists`). */
export const v2ListQuerySchema = z.strictObject(
  { page: z.int().min(1).optional(), limit: z.int().min(1).optional() },
  { error: unknownKeys("unknown key; options of the call are its second argument") },
) satisfies z.ZodType<V2ListQuery>;

/** One page of lists, the response to `GET /v2/lists`. It requires `data.lists` and the `uuid` of each list. */
export const v2ListPageSchema = z.looseObject({
  success: documented<boolean>("boolean"),
  data: z.looseObject({
    lists: z.array(
      z.looseObject({
        uuid: z.string(),
        name: documented<string>("string"),
        created_at: documented<number>("number"),
        description: documented<string>("string"),
      }) satisfies z.ZodType<List>,
    ),
    current_page: documented<number>("number"),
    total_pages: documented<number>("number"),
    total_items: documented<number>("number"),
    items_per_page: documented<number>("number"),
  }),
});
