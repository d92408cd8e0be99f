import * as z from "zod";

import type {
  ChoiceField,
  Explain,
  Field,
  NumberField,
  Rule,
  TextField,
  YesOrNoField,
} from "../fields/field.ts";
import { jsonValue } from "../fields/json-value.ts";
import { FieldList } from "./field-list.ts";
import { FieldObject } from "./field-object.ts";

/** A text: zod's own string, without the methods that make formats of it (`.email()`). */
export interface ZodText extends z._ZodString<z.core.$ZodStringInternals<string>> {}

/** The zod schema of a definition. */
export type ZodSchema<F> = F extends { type: "optional"; inner: infer Inner }
  ? z.ZodOptional<ZodSchema<Inner>>
  : F extends { type: "object"; shape: infer S; others: infer O }
    ? z.ZodObject<ZodShape<S>, O extends "refused" ? z.core.$strict : z.core.$loose>
    : F extends { type: "array"; item: infer Item }
      ? z.ZodArray<ZodSchema<Item>>
      : F extends ChoiceField<infer Choice>
        ? z.ZodEnum<{ [K in Choice]: K }>
        : F extends TextField
          ? ZodText
          : F extends NumberField
            ? z.ZodNumber
            : F extends YesOrNoField
              ? z.ZodBoolean
              : F extends { readonly value?: infer Value }
                ? z.ZodType<Value, Value>
                : never;

type ZodShape<S> = { -readonly [K in keyof S]: ZodSchema<S[K]> };

/**
 * A definition as an ordinary zod schema, without transforms. The classes are named one by one, and the text is zod's
 * smaller one, without the formats that it could be made to have: a bundler keeps no more than these.
 */
export function zodSchema<F extends Field>(field: F): ZodSchema<F> {
  // True: what is made of each type is what `ZodSchema` says.
  return schemaOf(field) as unknown as ZodSchema<F>;
}

function schemaOf(field: Field): z.ZodType {
  const schema = bare(field);
  const { shown } = field;
  // A fresh copy each time, as zod writes into it.
  if (shown) schema._zod.processJSONSchema = (_, json) => void Object.assign(json, structuredClone(shown));
  return schema;
}

function bare(field: Field): z.ZodType {
  const def = { ...(field.rules && { checks: field.rules.map(check) }), error: words(field.explain) };
  switch (field.type) {
    case "string":
      return new z._ZodString({ type: "string", ...def });
    case "number":
      return new z.ZodNumber({ type: "number", ...def });
    case "boolean":
      return new z.ZodBoolean({ type: "boolean", ...def });
    case "enum":
      return new z.ZodEnum({
        type: "enum",
        entries: Object.fromEntries(field.values.map((value) => [value, value])),
        ...def,
      });
    case "unknown":
      return new z.ZodUnknown({ type: "unknown", ...def });
    case "optional":
      return new z.ZodOptional({ type: "optional", innerType: schemaOf(field.inner) });
    case "array":
      return new FieldList({ type: "array", element: schemaOf(field.item), ...def });
    case "object":
      return object(field, def);
  }
}

type ObjectDefinition = Extract<Field, { type: "object" }>;

function object(field: ObjectDefinition, common: { error: z.core.$ZodErrorMap }): z.ZodType {
  const shape = Object.fromEntries(Object.entries(field.shape).map(([name, part]) => [name, schemaOf(part)]));
  const def = { type: "object", shape, ...common } as const;
  if (field.others === "kept")
    return new z.ZodObject({ ...def, catchall: new z.ZodUnknown({ type: "unknown" }) });
  const catchall = field.others === "refused" ? new z.ZodNever({ type: "never" }) : schemaOf(jsonValue());
  const schema = new FieldObject({ ...def, catchall, hint: field.hint });
  if (field.meta) z.globalRegistry.add(schema, field.meta);
  return schema;
}

/** A rule as a zod check. */
function check({ def, when, shown, judge }: Rule): z.core.$ZodCheck<unknown> {
  const show = ({ _zod: { bag } }: { _zod: { bag: Record<string, unknown> } }) => {
    bag["format"] = shown?.format;
    if (shown?.pattern) bag["patterns"] = new Set([shown.pattern]);
  };
  // True: a payload of zod's has what ours has, and an issue of ours is one of zod's.
  return {
    _zod: { def: { ...def, when }, onattach: shown ? [show] : [], check: judge },
  } as unknown as z.core.$ZodCheck<unknown>;
}

/** The words of a field as the error map of a zod schema. */
function words(explain: Explain | undefined): z.core.$ZodErrorMap {
  // True: an issue of zod's has what ours has.
  return (issue) => explain?.(issue as Parameters<Explain>[0]);
}
