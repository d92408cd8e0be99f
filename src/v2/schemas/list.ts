import { optional } from "../../fields/field.ts";
import { strictFields } from "../../fields/objects.ts";
import { wholeNumberFrom1 } from "../../fields/whole-number.ts";
import { optionOfTheCall } from "../../fields/query-hint.ts";

/** A list ("v2 list"). Only `uuid` is sure to be there; the rest is typed as documented, not checked. */
export type List = {
  /** Unique identifier of the list. */
  uuid: string;
  /** Display name. */
  name?: string | null | undefined;
  /** Unix timestamp, in seconds. */
  created_at?: number | null | undefined;
  /** What the list is for, in free text. */
  description?: string | null | undefined;
  [field: string]: unknown;
};

/** Which page of the lists (`GET /v2/lists`). */
export type V2ListQuery = {
  /** From 1; default 1. */
  page?: number | undefined;
  /** Lists per page, from 1; the service's default is not documented. */
  limit?: number | undefined;
};

/** Which page of the lists (`GET /v2/lists`). */
export const v2ListQuery = strictFields(
  { page: optional(wholeNumberFrom1()), limit: optional(wholeNumberFrom1()) },
  optionOfTheCall,
);
