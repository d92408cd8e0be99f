import * as z from "zod";
import type * as core from "zod/v4/core";

import { fieldClass } from "./field-class.ts";

/** A text: zod's own string (`.min()`, `.regex()`), without the methods that make formats of it (`.email()`). */
export interface ZodText extends z._ZodString<core.$ZodStringInternals<string>> {}

export const FieldText = fieldClass<ZodText, core.$ZodStringDef>("AudienceFieldText", z._ZodString);

export const FieldNumber = fieldClass<z.ZodNumber, core.$ZodNumberDef>("AudienceFieldNumber", z.ZodNumber);

/** A field whose rules alone say what it may be. */
export const FieldFree = fieldClass<z.ZodUnknown, core.$ZodUnknownDef>("AudienceFieldFree", z.ZodUnknown);
