import * as z from "zod";

import { explain } from "./explain.ts";

/** A whole number from 1 (`page`, `limit`). No upper bound: the service counts a `limit` over 100 as 100 ("Limits"). */
export function wholeNumberFrom1(): z.ZodInt {
  return z.int({ error: explain }).min(1);
}
