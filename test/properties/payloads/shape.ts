import fc from "fast-check";
import { anyJson, valuesExcept, type Field } from "./fields.ts";

/** The fields of an object, and the rule for unknown keys. */
export interface Shape {
  readonly fields: Readonly<Record<string, Field>>;
  readonly required: readonly string[];
  readonly unknownKeys: "refused" | "passed on";
}

type Json = Record<string, unknown>;

/** Keys that no table of the service document contains; some are names on Object.prototype. */
const unknownNames = [
  "unknown",
  "",
  " ",
  "constructor",
  "toString",
  "hasOwnProperty",
  "naïve",
  "0",
  "e-mail",
];

/** An object of the shape: the required fields, and any optional ones. */
export function validObject({ fields, required, unknownKeys }: Shape): fc.Arbitrary<Json> {
  const model = Object.fromEntries(Object.entries(fields).map(([name, { valid }]) => [name, valid]));
  const own = fc.record(model, { requiredKeys: [...required] });
  if (unknownKeys === "refused") return own;
  const unknownValues = fc.dictionary(fc.constantFrom(...unknownNames), nullFree, { maxKeys: 2 });
  return fc
    .tuple(own, fc.option(unknownValues, { nil: {}, freq: 4 }))
    .map(([object, more]) => ({ ...more, ...object }));
}

/**
 * An object of the shape, as a field or as a whole body. `base` and `minimal` where more than the shape
 * makes it valid.
 */
export function nested(
  shape: Shape,
  {
    base = validObject(shape),
    minimal = minimalObject(shape),
  }: { base?: fc.Arbitrary<Json>; minimal?: Json } = {},
): Field {
  const broken = [...changesTo(minimal, shape, "forbidden"), ...brokenKeys(minimal, shape)];
  return {
    allowed: [minimal, ...changesTo(minimal, shape, "allowed")],
    forbidden: [...broken, ...valuesExcept("object"), [minimal]],
    valid: base,
    invalid: invalidObject(shape, base),
    unclassified: unclassifiedObject(shape, base),
  };
}

function minimalObject({ fields, required }: Shape): Json {
  return Object.fromEntries(required.map((name) => [name, fields[name]?.allowed[0]]));
}

/** One object for each fixed value of each field. */
function changesTo(object: Json, { fields }: Shape, kind: "allowed" | "forbidden"): Json[] {
  return Object.entries(fields).flatMap(([name, field]) =>
    field[kind].map((value) => ({ ...object, [name]: value })),
  );
}

/** Objects with a missing, misspelt or unknown key. */
function brokenKeys(object: Json, { fields, required, unknownKeys }: Shape): Json[] {
  const names = Object.keys(fields);
  const withUnknownKey = unknownNames.map((key) => ({
    ...object,
    [key]: unknownKeys === "refused" ? "text" : null,
  }));
  const misnamed = names.map((name) => renamed({ [name]: "text", ...object }, name));
  return [
    ...required.map((name) => without(object, name)),
    ...required.map((name) => renamed(object, name)),
    ...withUnknownKey,
    ...(unknownKeys === "refused" ? misnamed : []),
  ];
}

/** A valid object with one invalid value or key. */
function invalidObject(shape: Shape, base: fc.Arbitrary<Json>): fc.Arbitrary<unknown> {
  const fields = Object.entries(shape.fields);
  return fc.oneof(
    { weight: 3, arbitrary: fc.oneof(...fields.map(([name, { invalid }]) => changed(base, name, invalid))) },
    { weight: 2, arbitrary: base.chain((object) => fc.constantFrom(...brokenKeys(object, shape))) },
    {
      weight: 1,
      arbitrary: fc.oneof(
        fc.constantFrom(...valuesExcept("object")),
        base.map((object) => [object]),
      ),
    },
  );
}

/** A valid object with one unclassified value or key. */
function unclassifiedObject(shape: Shape, base: fc.Arbitrary<Json>): fc.Arbitrary<unknown> {
  const fields = Object.entries(shape.fields);
  const anyName = fc.constantFrom(...Object.keys(shape.fields));
  const anyUnclassified = fc.oneof(...fields.map(([, { unclassified }]) => unclassified));
  return fc.oneof(
    {
      weight: 4,
      arbitrary: fc.oneof(...fields.map(([name, { unclassified }]) => changed(base, name, unclassified))),
    },
    { weight: 2, arbitrary: fc.oneof(...fields.map(([name]) => changed(base, name, anyUnclassified))) },
    {
      weight: 1,
      arbitrary: fc.oneof(...[...unknownNames, "__proto__"].map((key) => changed(base, key, anyJson))),
    },
    { weight: 1, arbitrary: fc.tuple(base, anyName).map(([object, name]) => without(object, name)) },
    { weight: 1, arbitrary: fc.tuple(base, anyName).map(([object, name]) => renamed(object, name)) },
    { weight: 1, arbitrary: anyJson },
  );
}

function changed(base: fc.Arbitrary<Json>, name: string, values: fc.Arbitrary<unknown>): fc.Arbitrary<Json> {
  return fc.tuple(base, values).map(([object, value]) => ({ ...object, [name]: value }));
}

/** JSON without `null` at any depth. */
export const nullFree: fc.Arbitrary<unknown> = anyJson.map(withoutNull);

function withoutNull(value: unknown): unknown {
  if (value === null) return "was null";
  if (Array.isArray(value)) return value.map(withoutNull);
  if (typeof value !== "object") return value;
  // A key `__proto__` has an exception of its own.
  const entries = Object.entries(value).filter(([key]) => key !== "__proto__");
  return Object.fromEntries(entries.map(([key, item]) => [key, withoutNull(item)]));
}

export function without(object: Json, name: string): Json {
  return Object.fromEntries(Object.entries(object).filter(([key]) => key !== name));
}

/** The same field in the other family's case, or in upper case. */
function renamed(object: Json, name: string): Json {
  const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const camel = name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  const other = snake !== name ? snake : camel !== name ? camel : name.toUpperCase();
  return Object.fromEntries(
    Object.entries(object).map(([key, value]) => [key === name ? other : key, value]),
  );
}
