import fc from "fast-check";
import { anyJson, otherThan, type Field } from "./field.ts";

/** The fields of an object, and what the service does with others. */
export interface Shape {
  readonly fields: Readonly<Record<string, Field>>;
  readonly required: readonly string[];
  readonly others: "refused" | "passed on";
}

type Json = Record<string, unknown>;

/** Keys that no table of the service document holds; some are names that every object has. */
const strangers = ["unknown", "", " ", "constructor", "toString", "hasOwnProperty", "naïve", "0", "e-mail"];

/** An object of the shape: the required fields, and any of the others. */
export function goodObject({ fields, required, others }: Shape): fc.Arbitrary<Json> {
  const model = Object.fromEntries(Object.entries(fields).map(([name, { good }]) => [name, good]));
  const own = fc.record(model, { requiredKeys: [...required] });
  if (others === "refused") return own;
  const strange = fc.dictionary(fc.constantFrom(...strangers), nullFree, { maxKeys: 2 });
  return fc
    .tuple(own, fc.option(strange, { nil: {}, freq: 4 }))
    .map(([object, more]) => ({ ...more, ...object }));
}

/**
 * An object of the shape, as the field of another or as a whole body. `base` and `plainest` where more than the shape
 * makes it good.
 */
export function nested(
  shape: Shape,
  {
    base = goodObject(shape),
    plainest = plainestOf(shape),
  }: { base?: fc.Arbitrary<Json>; plainest?: Json } = {},
): Field {
  const broken = [...changesTo(plainest, shape, "forbidden"), ...breaks(plainest, shape)];
  return {
    allowed: [plainest, ...changesTo(plainest, shape, "allowed")],
    forbidden: [...broken, ...otherThan("object"), [plainest]],
    good: base,
    bad: brokenObject(shape, base),
    odd: oddObject(shape, base),
  };
}

function plainestOf({ fields, required }: Shape): Json {
  return Object.fromEntries(required.map((name) => [name, fields[name]?.allowed[0]]));
}

/** One object for each value of note of each field. */
function changesTo(object: Json, { fields }: Shape, kind: "allowed" | "forbidden"): Json[] {
  return Object.entries(fields).flatMap(([name, field]) =>
    field[kind].map((value) => ({ ...object, [name]: value })),
  );
}

/** What can be wrong with the keys of an object. */
function breaks(object: Json, { fields, required, others }: Shape): Json[] {
  const names = Object.keys(fields);
  const stranger = strangers.map((key) => ({ ...object, [key]: others === "refused" ? "text" : null }));
  const misnamed = names.map((name) => renamed({ [name]: "text", ...object }, name));
  return [
    ...required.map((name) => without(object, name)),
    ...required.map((name) => renamed(object, name)),
    ...stranger,
    ...(others === "refused" ? misnamed : []),
  ];
}

/** A good object with one thing wrong. */
function brokenObject(shape: Shape, base: fc.Arbitrary<Json>): fc.Arbitrary<unknown> {
  const fields = Object.entries(shape.fields);
  return fc.oneof(
    { weight: 3, arbitrary: fc.oneof(...fields.map(([name, { bad }]) => changed(base, name, bad))) },
    { weight: 2, arbitrary: base.chain((object) => fc.constantFrom(...breaks(object, shape))) },
    {
      weight: 1,
      arbitrary: fc.oneof(
        fc.constantFrom(...otherThan("object")),
        base.map((object) => [object]),
      ),
    },
  );
}

/** A good object with one thing that may be right or wrong. */
function oddObject(shape: Shape, base: fc.Arbitrary<Json>): fc.Arbitrary<unknown> {
  const fields = Object.entries(shape.fields);
  const anyName = fc.constantFrom(...Object.keys(shape.fields));
  const anyOdd = fc.oneof(...fields.map(([, { odd }]) => odd));
  return fc.oneof(
    { weight: 4, arbitrary: fc.oneof(...fields.map(([name, { odd }]) => changed(base, name, odd))) },
    { weight: 2, arbitrary: fc.oneof(...fields.map(([name]) => changed(base, name, anyOdd))) },
    {
      weight: 1,
      arbitrary: fc.oneof(...[...strangers, "__proto__"].map((key) => changed(base, key, anyJson))),
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

/** The same field in the other family's case, or in none of both. */
function renamed(object: Json, name: string): Json {
  const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const camel = name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  const other = snake !== name ? snake : camel !== name ? camel : name.toUpperCase();
  return Object.fromEntries(
    Object.entries(object).map(([key, value]) => [key === name ? other : key, value]),
  );
}
