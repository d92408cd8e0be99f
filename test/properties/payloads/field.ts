import fc from "fast-check";

/** The rule of the service document for one field, or for a whole body. */
export interface Field {
  /** Fixed values that it allows: each is tried in every run. */
  readonly allowed: readonly unknown[];
  /** Fixed values that it forbids: each is tried in every run. */
  readonly forbidden: readonly unknown[];
  readonly valid: fc.Arbitrary<unknown>;
  readonly invalid: fc.Arbitrary<unknown>;
  /** Values without an expected verdict: the schemas and the mock must agree on them. */
  readonly unclassified: fc.Arbitrary<unknown>;
}

export interface FieldValues {
  allowed: readonly unknown[];
  forbidden: readonly unknown[];
  valid?: fc.Arbitrary<unknown>;
  invalid?: fc.Arbitrary<unknown>;
  unclassified?: fc.Arbitrary<unknown>;
}

/** JSON of any shape, `null` and nesting included. */
export const anyJson: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, "", " ", 0, -0, 1, 1.5, 1e21, true, false, [], {}, [[]], [null], {
    a: null,
  }),
  fc.jsonValue({ maxDepth: 2 }),
);

/** Characters of one, two, three and four bytes, joiners, a lone surrogate: each is one code point. */
const characters = ["a", "é", "ß", "日", "🎈", "𝒳", "\u0301", "\u200d", " ", "\n", "\ud800", "\u0000"];

/** A string of this many code points, in which no two surrogates form a pair. */
function stringOfLength(length: number): fc.Arbitrary<string> {
  return fc
    .array(fc.constantFrom(...characters), { minLength: 1, maxLength: 4 })
    .map((some) => Array.from({ length }, (_, at) => some[at % some.length]).join(""));
}

export const anyString: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.integer({ min: 0, max: 300 }).chain(stringOfLength),
  fc.constantFrom("", " ", "\t", "null", "\u2028", "\ud83c", "constructor", "__proto__", "<b>", "' OR 1=1"),
);

/** A field with the fixed values and the generated ones. */
export function fieldOf({ allowed, forbidden, valid, invalid, unclassified }: FieldValues): Field {
  const noted = { allowed: fc.constantFrom(...allowed), forbidden: fc.constantFrom(...forbidden) };
  return {
    allowed,
    forbidden,
    valid: valid ? fc.oneof(noted.allowed, valid) : noted.allowed,
    invalid: invalid ? fc.oneof(noted.forbidden, invalid) : noted.forbidden,
    unclassified: fc.oneof(
      noted.allowed,
      noted.forbidden,
      ...(unclassified ? [unclassified] : []),
      anyString,
      anyJson,
    ),
  };
}

/** Splits a string at its spaces: many fixed values in one line. */
export function split(text: string): string[] {
  return text.split(" ");
}

type Kind = "string" | "number" | "boolean" | "array" | "object" | "null";

const valuesByType: Record<Kind, readonly unknown[]> = {
  string: ["", "text", "true", "1", "null"],
  number: [0, 1, -1, 12_345_678, 1.5],
  boolean: [true, false],
  array: [[], ["text"], [{}], [null]],
  object: [{}, { value: "text" }, { length: 7 }],
  null: [null],
};

/** Values of every type except the given ones. `null` is always included: no field accepts it. */
export function valuesExcept(...kinds: Kind[]): unknown[] {
  const all = Object.keys(valuesByType) as Kind[]; // Safe: these are the keys of the table above.
  return all.filter((kind) => !kinds.includes(kind)).flatMap((kind) => valuesByType[kind]);
}

/** Any string. */
export function anyStringField(): Field {
  return fieldOf({
    allowed: ["", " ", "text", "🎈".repeat(300)],
    forbidden: valuesExcept("string"),
    valid: anyString,
  });
}

/** A string of `min` to `max` code points. */
export function boundedString({ min = 0, max }: { min?: number; max: number }): Field {
  const inside = [...new Set([min, min + 1, max - 1, max])];
  const outside = min > 0 ? [0, min - 1, max + 1, 2 * max] : [max + 1, 2 * max];
  const stringsOf = (lengths: readonly number[]) =>
    lengths.flatMap((length) => ["a", "é", "🎈", "\ud800"].map((character) => character.repeat(length)));
  return fieldOf({
    allowed: stringsOf(inside),
    forbidden: [...stringsOf(outside), ...valuesExcept("string")],
    valid: fc.oneof(fc.constantFrom(...inside), fc.integer({ min, max })).chain(stringOfLength),
    invalid: fc.constantFrom(...outside).chain(stringOfLength),
    unclassified: fc.integer({ min: Math.max(0, min - 2), max: max + 2 }).chain(stringOfLength),
  });
}

/** An enum of the given strings; case counts. */
export function enumField(...allowed: string[]): Field {
  const almost = allowed.flatMap((word) => [
    word.toLowerCase() === word ? word.toUpperCase() : word.toLowerCase(),
    ` ${word}`,
    `${word}\n`,
    word.slice(0, -1),
  ]);
  return fieldOf({ allowed, forbidden: [...almost, "", "OTHER_WORD", allowed, ...valuesExcept("string")] });
}

export const booleanField: Field = fieldOf({ allowed: [true, false], forbidden: valuesExcept("boolean") });
