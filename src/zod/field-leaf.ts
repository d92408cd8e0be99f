import * as z from "zod";
// By its own entry: reached through `z.core`, a bundler keeps all of it, 50 languages included.
import * as core from "zod/v4/core";

import type { JsonSchema } from "../fields/field.ts";

/** What a schema is made of, with what its JSON schema shows besides what zod would: kept by every copy of the schema. */
export type Shown<Def> = Def & { readonly shown: JsonSchema };

/** A text: zod's own string (`.min()`, `.regex()`), without the methods that make formats of it (`.email()`). */
export interface ZodText extends z._ZodString<core.$ZodStringInternals<string>> {}

// Assertion signatures have to be written down to be called; the assertions themselves are not needed here.
const initZodString: (schema: ZodText, def: core.$ZodStringDef) => void = z._ZodString.init;
const initZodNumber: (schema: z.ZodNumber, def: core.$ZodNumberDef) => void = z.ZodNumber.init;
const initZodUnknown: (schema: z.ZodUnknown, def: core.$ZodUnknownDef) => void = z.ZodUnknown.init;

export const FieldText = core.$constructor<ZodText, Shown<core.$ZodStringDef>>(
  "AudienceFieldText",
  (schema, def) => {
    initZodString(schema, def);
    show(schema, def);
  },
);

export const FieldNumber = core.$constructor<z.ZodNumber, Shown<core.$ZodNumberDef>>(
  "AudienceFieldNumber",
  (schema, def) => {
    initZodNumber(schema, def);
    show(schema, def);
  },
);

/** A field whose rules alone say what it may be. */
export const FieldFree = core.$constructor<z.ZodUnknown, Shown<core.$ZodUnknownDef>>(
  "AudienceFieldFree",
  (schema, def) => {
    initZodUnknown(schema, def);
    show(schema, def);
  },
);

/** Adds what is shown to the JSON schema. A fresh copy each time, as zod writes into it. */
export function show(schema: core.$ZodType, { shown }: Shown<core.$ZodTypeDef>): void {
  const { processJSONSchema } = schema._zod;
  schema._zod.processJSONSchema = (context, json, params) => {
    processJSONSchema?.(context, json, params);
    Object.assign(json, structuredClone(shown));
  };
}
