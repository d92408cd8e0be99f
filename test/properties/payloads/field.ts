import fc from "fast-check";

/** One field as the service document describes it: values that it allows, and values that it forbids. */
export interface Field {
  readonly good: fc.Arbitrary<unknown>;
  readonly bad: fc.Arbitrary<unknown>;
  /** Values of which nothing is said beforehand: the two readings have to agree on them. */
  readonly odd: fc.Arbitrary<unknown>;
}

/** JSON of any shape, `null` and nesting included. */
export const anyJson: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, "", " ", 0, -0, 1, 1.5, 1e21, true, false, [], {}, [[]], [null], {
    a: null,
  }),
  fc.jsonValue({ maxDepth: 2 }),
);

type Kind = "text" | "number" | "boolean" | "array" | "object" | "null";

const ofKind: Record<Kind, readonly unknown[]> = {
  text: ["", "text", "true", "1", "null"],
  number: [0, 1, -1, 12_345_678, 1.5],
  boolean: [true, false],
  array: [[], ["text"], [{}], [null]],
  object: [{}, { value: "text" }, { length: 7 }],
  null: [null],
};

/** A value of any kind but those given. `null` is always among them: no field takes it. */
export function otherThan(...kinds: Kind[]): fc.Arbitrary<unknown> {
  const all = Object.keys(ofKind) as Kind[]; // True: these are the names that the table above holds.
  return fc.constantFrom(...all.filter((kind) => !kinds.includes(kind)).flatMap((kind) => ofKind[kind]));
}

/** Any text will do. */
export function freeText(): Field {
  return { good: anyText, bad: otherThan("text"), odd: fc.oneof(anyText, anyJson) };
}

/** A text of `min` to `max` characters, each code point one. */
export function boundedText({ min = 0, max }: { min?: number; max: number }): Field {
  const lengths = [min, min + 1, max - 1, max];
  const wrong = min > 0 ? [0, min - 1, max + 1, 2 * max] : [max + 1, 2 * max];
  return {
    good: fc.oneof(fc.constantFrom(...lengths), fc.integer({ min, max })).chain(textOfLength),
    bad: fc.oneof(fc.constantFrom(...wrong).chain(textOfLength), otherThan("text")),
    odd: fc.oneof(
      fc.integer({ min: Math.max(0, min - 2), max: max + 2 }).chain(textOfLength),
      anyText,
      anyJson,
    ),
  };
}

/** One of the words, exactly as written. */
export function oneOf(...words: string[]): Field {
  const wrong = words.flatMap((word) => [
    word.toLowerCase() === word ? word.toUpperCase() : word.toLowerCase(),
    ` ${word}`,
    `${word}\n`,
    word.slice(0, -1),
  ]);
  return {
    good: fc.constantFrom(...words),
    bad: fc.oneof(fc.constantFrom(...wrong, "", "OTHER_WORD"), otherThan("text"), fc.constant([words[0]])),
    odd: fc.oneof(fc.constantFrom(...words, ...wrong), anyJson),
  };
}

export const yesOrNo: Field = { good: fc.boolean(), bad: otherThan("boolean"), odd: anyJson };

/** Characters of one, two, three and four bytes, joiners, half a pair: each of them is one code point. */
const characters = ["a", "é", "ß", "日", "🎈", "𝒳", "\u0301", "\u200d", " ", "\n", "\ud800", "\u0000"];

/** A text of so many code points; where half a pair stands, no other half follows. */
export function textOfLength(length: number): fc.Arbitrary<string> {
  return fc
    .array(fc.constantFrom(...characters), { minLength: 1, maxLength: 4 })
    .map((some) => Array.from({ length }, (_, at) => some[at % some.length]).join(""));
}

export const anyText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.integer({ min: 0, max: 300 }).chain(textOfLength),
  fc.constantFrom("", " ", "\t", "null", "\u2028", "\ud83c", "constructor", "__proto__", "<b>", "' OR 1=1"),
);
