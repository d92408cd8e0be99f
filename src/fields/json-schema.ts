import type * as z from "zod";

/** What `z.toJSONSchema` shows for a schema whose rule is code. A fresh copy each time, as zod writes into it. */
export function shownAs<Schema extends z.ZodType>(
  schema: Schema,
  shown: z.core.JSONSchema.BaseSchema,
): Schema {
  schema._zod.processJSONSchema = (_context, json) => void Object.assign(json, structuredClone(shown));
  return schema;
}
