import * as z from "zod";
import { unknownKeys } from "./issues.ts";

/** From 1, without an upper bound: the service counts a `limit` over 100 as 100 ("Limits"). */
const fromOne = z.int().min(1).optional();

/** Which page of a list. A list takes its query first and its options second. */
export const pageQuery = z.strictObject(
  { page: fromOne, limit: fromOne },
  { error: unknownKeys("unknown key; options of the call are its second argument") },
);
