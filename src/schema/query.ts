import * as z from "zod";
import { unknownKeys } from "./issues.ts";

/** Without an upper bound: the service counts a `limit` over 100 as 100 ("Limits"). */
const fromOne = z.int().min(1).optional();

/** The query of a list. */
export const pageQuery = z.strictObject(
  { page: fromOne, limit: fromOne },
  { error: unknownKeys("unknown key; options of the call are its second argument") },
);
