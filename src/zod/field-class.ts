import type * as z from "zod";
// By its own entry: reached through `z.core`, a bundler keeps all of it, 50 languages included.
import * as core from "zod/v4/core";

import type { JsonSchema } from "../fields/field.ts";

/** What a schema is made of, with what its JSON schema shows besides what zod would: kept by every copy of the schema. */
export type Shown<Def> = Def & { readonly shown: JsonSchema };

/**
 * One of zod's classes, whose JSON schema shows more, and which `change` makes other than zod's.
 */
/*! @__NO_SIDE_EFFECTS__ */
export function fieldClass<Schema extends z.ZodType, Def extends core.$ZodTypeDef>(
  name: string,
  base: { readonly init: (schema: Schema, def: Def) => void },
  change?: (schema: Schema, def: Shown<Def>) => void,
) {
  return core.$constructor<Schema, Shown<Def>>(name, (schema, def) => {
    base.init(schema, def);
    const { processJSONSchema } = schema._zod;
    schema._zod.processJSONSchema = (context, json, params) => {
      processJSONSchema?.(context, json, params);
      // A fresh copy each time, as zod writes into it.
      Object.assign(json, structuredClone(def.shown));
    };
    change?.(schema, def);
  });
}
