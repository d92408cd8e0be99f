import * as z from "zod";
// By its own entry: reached through `z.core`, a bundler keeps all of it, 50 languages included.
import * as core from "zod/v4/core";

import type { JsonSchema } from "../fields/field.ts";

/** What a schema is made of, with what its JSON schema shows besides what zod would: kept by every copy of the schema. */
export type Shown<Def> = Def & { readonly shown: JsonSchema };

/**
 * A text and a number: zod's own checks of the type, and what every zod schema can do (`.optional()`, `.refine()`,
 * `.check()`), without the methods of zod's texts and numbers alone (`.email()`, `.min()`): with these, and what they
 * bring along, the entry would be 2 kB more.
 */
export interface ZodText extends z.ZodType<string, string, core.$ZodStringInternals<string>> {}
export interface ZodCount extends z.ZodType<number, number, core.$ZodNumberInternals<number>> {}

// Assertion signatures have to be written down to be called; the assertions themselves are not needed here.
const initZodType: (schema: z.ZodType, def: core.$ZodTypeDef) => void = z.ZodType.init;
const initZodUnknown: (schema: z.ZodUnknown, def: core.$ZodUnknownDef) => void = z.ZodUnknown.init;
const initString: (schema: ZodText, def: core.$ZodStringDef) => void = core.$ZodString.init;
const initNumber: (schema: ZodCount, def: core.$ZodNumberDef) => void = core.$ZodNumber.init;

export const FieldText = core.$constructor<ZodText, Shown<core.$ZodStringDef>>(
  "AudienceFieldText",
  (schema, def) => {
    initString(schema, def);
    initZodType(schema, def);
    show(schema, def);
  },
);

export const FieldNumber = core.$constructor<ZodCount, Shown<core.$ZodNumberDef>>(
  "AudienceFieldNumber",
  (schema, def) => {
    initNumber(schema, def);
    initZodType(schema, def);
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
