import * as z from "zod";

import { documented, documentedNumber, documentedText } from "../../fields/documented.ts";
import { strictFields } from "../../fields/field-object.ts";
import { optionOfTheCall } from "../../fields/query-hint.ts";
import { wholeNumberFrom1 } from "../../fields/whole-number.ts";

const list = z.looseObject({
  /** Unique identifier of the list. */
  uuid: z.string(),
  /** Display name. */
  name: documentedText(),
  /** Unix timestamp, in seconds. */
  created_at: documentedNumber(),
  description: documentedText(),
});

/** A list ("v2 list"). Only `uuid` is sure to be there; the rest is typed as documented, not checked. */
export type List = z.infer<typeof list>;

/** One page of lists, the answer to `GET /v2/lists`. Needed: `data.lists` and each one's `uuid`. */
export const v2ListPageSchema = z.looseObject({
  success: documented<boolean>({ type: "boolean" }),
  data: z.looseObject({
    lists: z.array(list),
    current_page: documentedNumber(),
    /** Pages available at the current `limit`. */
    total_pages: documentedNumber(),
    /** Lists in all. */
    total_items: documentedNumber(),
    items_per_page: documentedNumber(),
  }),
});

/** Which page of the lists (`GET /v2/lists`). */
export const v2ListQuerySchema = strictFields(
  {
    /** From 1; default 1. */
    page: wholeNumberFrom1().optional(),
    /** Lists per page, from 1; the service's default is not documented. */
    limit: wholeNumberFrom1().optional(),
  },
  optionOfTheCall,
);

/** Which page of the lists (`GET /v2/lists`). */
export type V2ListQuery = z.infer<typeof v2ListQuerySchema>;
