import * as z from "zod";

import { FieldList } from "./field-list.ts";
import { explain } from "../fields/explain.ts";
import type {
  ChoiceField,
  Explain,
  Field,
  JsonSchema,
  NumberField,
  Rule,
  TextField,
  YesOrNoField,
} from "../fields/field.ts";
import type { Shown } from "./field-class.ts";
import { FieldFree, FieldNumber, FieldText, type ZodText } from "./field-leaf.ts";
import { FieldObject } from "./field-object.ts";

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
 * A definition as an ordinary zod schema, without transforms. The classes are named one by one: a bundler keeps no more
 * than these.
 */
/*! @__NO_SIDE_EFFECTS__ */
export function zodSchema<F extends Field>(field: F): ZodSchema<F> {
  // True: what is made of each type is what `ZodSchema` says.
  return schemaOf(field) as unknown as ZodSchema<F>;
}

function schemaOf(field: Field): z.ZodType {
  const { rules = [] } = field;
  const def = {
    checks: rules.map(check),
    error: words(field.explain),
    shown: Object.assign({}, field.shown, ...rules.map(({ shown }) => shown)) as JsonSchema,
  };
  switch (field.type) {
    case "string":
      return new FieldText({ type: "string", ...def, shown: { type: "string", ...def.shown } });
    case "number":
      return new FieldNumber({ type: "number", ...def });
    case "boolean":
      return new z.ZodBoolean({ type: "boolean", ...def });
    case "enum":
      return new z.ZodEnum({
        type: "enum",
        entries: Object.fromEntries(field.values.map((value) => [value, value])),
        ...def,
      });
    case "unknown":
      return new FieldFree({ type: "unknown", ...def });
    case "optional":
      return new z.ZodOptional({ type: "optional", innerType: schemaOf(field.inner) });
    case "array":
      return new FieldList({ type: "array", element: schemaOf(field.item), ...def });
    case "object":
      return object(field, def);
  }
}

type ObjectDefinition = Extract<Field, { type: "object" }>;

function object(field: ObjectDefinition, common: Shown<{ error: z.core.$ZodErrorMap }>): z.ZodType {
  const shape = Object.fromEntries(Object.entries(field.shape).map(([name, part]) => [name, schemaOf(part)]));
  const def = { type: "object", shape, ...common } as const;
  const { others } = field;
  if (others === "kept")
    return new FieldObject({ ...def, catchall: new z.ZodUnknown({ type: "unknown" }), isKept: true });
  const catchall = others === "refused" ? new z.ZodNever({ type: "never" }) : schemaOf(others);
  return new FieldObject({ ...def, catchall, hint: field.hint });
}

/** A rule as a zod check. */
function check({ when, judge }: Rule): z.core.$ZodCheck<unknown> {
  // True: a payload of zod's has what ours has, and an issue of ours is one of zod's.
  return {
    _zod: { def: { check: "custom", when }, onattach: [], check: judge },
  } as unknown as z.core.$ZodCheck<unknown>;
}

/** The words of a field as the error map of a zod schema. */
function words(own: Explain = explain): z.core.$ZodErrorMap {
  // True: an issue of zod's has what ours has.
  return (issue) => own(issue as Parameters<Explain>[0]);
}
