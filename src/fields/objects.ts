import type { Flat, FreeField, ObjectField, Others, Rule, Shape, UnknownKeyHint } from "./field.ts";
import { jsonValue } from "./json-value.ts";

/** An object of the fields in `shape` and no others. Each unknown key is an issue of its own, with that key as its path. */
/*! @__NO_SIDE_EFFECTS__ */
export function strictFields<S extends Shape>(shape: S, hint?: UnknownKeyHint): ObjectField<S, "refused"> {
  return { type: "object", shape, others: "refused", hint };
}

/** An object of the fields in `shape`; any other is passed on, as long as JSON can carry it. */
/*! @__NO_SIDE_EFFECTS__ */
export function looseFields<S extends Shape>(shape: S): ObjectField<S, FreeField> {
  return { type: "object", shape, others: jsonValue() };
}

/** An object of an answer: the fields in `shape` are looked at, any other is kept as it is. */
/*! @__NO_SIDE_EFFECTS__ */
export function answerFields<S extends Shape>(shape: S): ObjectField<S, "kept"> {
  return { type: "object", shape, others: "kept" };
}

/** The same object, with other or more fields. */
/*! @__NO_SIDE_EFFECTS__ */
export function extended<S extends Shape, O extends Others, More extends Shape>(
  fields: ObjectField<S, O>,
  more: More,
): ObjectField<Flat<Omit<S, keyof More> & More>, O> {
  const extension = { ...fields, shape: { ...fields.shape, ...more } };
  // True: the shape is the spread of the two, and of the value there is but the type.
  return extension as unknown as ObjectField<Flat<Omit<S, keyof More> & More>, O>;
}

/** The same fields, and a rule over several of them. */
/*! @__NO_SIDE_EFFECTS__ */
export function withRule<F extends ObjectField>(fields: F, rule: Rule): F {
  return { ...fields, rules: [rule] };
}
