import fc from "fast-check";
import { anyJson, otherThan, type Field } from "./field.ts";

/** The fields of an object, and what the service does with others. */
export interface Shape {
  readonly fields: Readonly<Record<string, Field>>;
  readonly required: readonly string[];
  readonly others: "refused" | "passed on";
}

type Json = Record<string, unknown>;

const isPlain = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Keys that no table of the service document holds; some are names that every object has. */
const strangers = ["unknown", "", " ", "constructor", "toString", "hasOwnProperty", "naïve", "0", "e-mail"];

/** An object of the shape: the required fields, and any of the others. */
export function goodObject({ fields, required, others }: Shape): fc.Arbitrary<Json> {
  const model = Object.fromEntries(Object.entries(fields).map(([name, { good }]) => [name, good]));
  const own = fc.record(model, { requiredKeys: [...required] });
  if (others === "refused") return own;
  const further = fc.option(fc.dictionary(fc.constantFrom(...strangers), nullFree, { maxKeys: 2 }), {
    nil: {},
    freq: 4,
  });
  return fc.tuple(own, further).map(([object, more]) => ({ ...more, ...object }));
}

/** JSON without `null` at any depth. */
export const nullFree: fc.Arbitrary<unknown> = anyJson.map(withoutNull);

function withoutNull(value: unknown): unknown {
  if (value === null) return "was null";
  if (Array.isArray(value)) return value.map(withoutNull);
  // Assigned one by one, a key `__proto__` would set the prototype; it has a test of its own.
  if (isPlain(value))
    return Object.fromEntries(
      Object.entries(value)
        .filter(([key]) => key !== "__proto__")
        .map(([key, item]) => [key, withoutNull(item)]),
    );
  return value;
}

/** A good object with one thing wrong. */
export function brokenObject(
  shape: Shape,
  base: fc.Arbitrary<Json> = goodObject(shape),
): fc.Arbitrary<unknown> {
  const names = Object.keys(shape.fields);
  const ways = [
    fc.constantFrom(...names).chain((name) => {
      const bad = shape.fields[name]?.bad ?? fc.constant(null);
      return fc.tuple(base, bad).map(([object, value]) => ({ ...object, [name]: value }));
    }),
    fc.tuple(base, fc.constantFrom(...names)).map(([object, name]) => ({ ...object, [name]: null })),
    fc.tuple(base, fc.constantFrom(...strangers)).map(([object, key]) => ({ ...object, [key]: null })),
    otherThan("object"),
    base.map((object) => [object]),
  ];
  if (shape.required.length > 0) {
    ways.push(
      fc.tuple(base, fc.constantFrom(...shape.required)).map(([object, name]) => without(object, name)),
    );
    ways.push(
      fc.tuple(base, fc.constantFrom(...shape.required)).map(([object, name]) => renamed(object, name)),
    );
  }
  if (shape.others === "refused") {
    ways.push(
      fc
        .tuple(base, fc.constantFrom(...strangers), nullFree)
        .map(([object, key, value]) => ({ ...object, [key]: value })),
    );
    ways.push(
      fc
        .tuple(base, fc.constantFrom(...names))
        .map(([object, name]) => renamed({ [name]: "text", ...object }, name)),
    );
  }
  return fc.oneof(...ways);
}

/** A good object with one thing that may be right or wrong. */
export function oddObject(shape: Shape, base: fc.Arbitrary<Json> = goodObject(shape)): fc.Arbitrary<unknown> {
  const names = Object.keys(shape.fields);
  const allOdd = fc.oneof(...Object.values(shape.fields).map(({ odd }) => odd));
  return fc.oneof(
    {
      weight: 4,
      arbitrary: fc
        .constantFrom(...names)
        .chain((name) => changed(base, name, shape.fields[name]?.odd ?? anyJson)),
    },
    { weight: 2, arbitrary: fc.constantFrom(...names).chain((name) => changed(base, name, allOdd)) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(base, fc.constantFrom(...strangers, "__proto__"), anyJson)
        .map(([object, key, value]) => ({ ...object, [key]: value })),
    },
    {
      weight: 1,
      arbitrary: fc.tuple(base, fc.constantFrom(...names)).map(([object, name]) => without(object, name)),
    },
    {
      weight: 1,
      arbitrary: fc.tuple(base, fc.constantFrom(...names)).map(([object, name]) => renamed(object, name)),
    },
    { weight: 1, arbitrary: anyJson },
  );
}

function changed(base: fc.Arbitrary<Json>, name: string, values: fc.Arbitrary<unknown>): fc.Arbitrary<Json> {
  return fc.tuple(base, values).map(([object, value]) => ({ ...object, [name]: value }));
}

/** The whole object, as a field of another. */
export function nested(shape: Shape, base?: fc.Arbitrary<Json>): Field {
  return { good: base ?? goodObject(shape), bad: brokenObject(shape, base), odd: oddObject(shape, base) };
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
