import fc from "fast-check";

/** The rule of the service document for one field, or for a whole body. */
export interface Field {
  /** Fixed values that it allows: each is tried in every run. */
  readonly allowed: readonly unknown[];
  /** Fixed values that it forbids: each is tried in every run. */
  readonly forbidden: readonly unknown[];
  /** Any values: the schemas and the mock must agree on them. */
  readonly any: fc.Arbitrary<unknown>;
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

/** A field with the fixed values, and with any others that nearly follow its rule. */
export function fieldOf(
  allowed: readonly unknown[],
  forbidden: readonly unknown[],
  ...nearly: fc.Arbitrary<unknown>[]
): Field {
  const fixed = [fc.constantFrom(...allowed), fc.constantFrom(...forbidden)];
  return { allowed, forbidden, any: fc.oneof(...fixed, anyString, anyJson, ...nearly) };
}

/** Splits a string at its spaces: many fixed values in one line. */
function split(text: string): string[] {
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
  return fieldOf(["", " ", "text", "🎈".repeat(300)], valuesExcept("string"));
}

/** A string of `min` to `max` code points. */
export function boundedString({ min = 0, max }: { min?: number; max: number }): Field {
  const inside = [...new Set([min, min + 1, max - 1, max])];
  const outside = min > 0 ? [0, min - 1, max + 1, 2 * max] : [max + 1, 2 * max];
  const stringsOf = (lengths: readonly number[]) =>
    lengths.flatMap((length) => ["a", "é", "🎈", "\ud800"].map((character) => character.repeat(length)));
  return fieldOf(
    stringsOf(inside),
    [...stringsOf(outside), ...valuesExcept("string")],
    fc.integer({ min: Math.max(0, min - 2), max: max + 2 }).chain(stringOfLength),
  );
}

/** An enum of the given strings; case counts. */
export function enumField(...allowed: string[]): Field {
  const almost = allowed.flatMap((word) => [
    word.toLowerCase() === word ? word.toUpperCase() : word.toLowerCase(),
    ` ${word}`,
    `${word}\n`,
    word.slice(0, -1),
  ]);
  return fieldOf(allowed, [...almost, "", "OTHER_WORD", allowed, ...valuesExcept("string")]);
}

export const booleanField: Field = fieldOf([true, false], valuesExcept("boolean"));

const halves = fc.oneof(
  fc.constantFrom(...split("a ada ADA.Lovelace+news o'brien 例 🎈 - [192.0.2.1]"), "می\u200cخ"),
  fc
    .string({ unit: "binary", minLength: 1, maxLength: 8 })
    .filter((text) => !/[\s@,;<>"'“”„‘’«»\p{Cc}\p{Default_Ignorable_Code_Point}]/u.test(text)),
);
const blanks = [" ", "\t", "\n", "\u00a0", "\u2028", "\ufeff", "\u3000"];

/** A string, an `@` and a string, without white space, and nothing around them. */
export const email: Field = fieldOf(
  split('ada@example.com ADA@Example.COM a@b 例@例.jp 🎈@🎈 "x"@x a@[192.0.2.1]'),
  [
    "",
    ...split("@ @@ ada @example.com ada@"),
    ...blanks.flatMap((blank) => [
      `${blank}ada@example.com`,
      `ada@exa${blank}mple.com`,
      `ada@example.com${blank}`,
    ]),
    ...valuesExcept("string"),
  ],
  fc.tuple(halves, halves).map((texts) => texts.join("@")),
  fc.string({
    unit: fc.constantFrom("a", "@", " ", ",", "<", '"', "\ufeff", "\u200b", "\n"),
    maxLength: 6,
  }),
);

const quads = fc.array(fc.constantFrom("0", "1", "09", "255", "256", "ffff", ""), { maxLength: 9 });

export const ipAddress: Field = fieldOf(
  [
    ...split(
      "192.0.2.1 0.0.0.0 255.255.255.255 :: ::1 2001:db8::1 2001:DB8:0:0:0:0:0:1 1:2:3:4:5:6:7:: 1::8",
    ),
    ...split("::ffff:192.0.2.1 64:ff9b::192.0.2.33 1:2:3:4:5:6:192.0.2.1 ::2:3:4:5:6:7:8"),
  ],
  [
    ...split(
      "localhost 192.0.2 192.0.2.256 192.0.2.1.1 192.0.2.01 192.0.2.1:80 192.0.2.0/24 -1.0.0.0 0x7f.0.0.1",
    ),
    ...split(
      "::1%eth0 [::1] ::: 1::2::3 1:2:3:4:5:6:7 1:2:3:4:5:6:7:8:9 12345:: g:: 192.0.2.1:: 1: :1 2130706433",
    ),
    ...split("1:2:3:4:5:6:7:192.0.2.1 ::192.0.2.256 1:2:3:4:5:6:7:8::"),
    "",
    " 192.0.2.1",
    "192.0.2.1\n",
    ...valuesExcept("string"),
  ],
  fc.ipV4(),
  fc.ipV6(),
  fc.string({ unit: fc.constantFrom("0", "1", "9", "25", "f", ":", "::", ".", "%"), maxLength: 9 }),
  quads.chain((parts) => fc.constantFrom(parts.join("."), parts.join(":"))),
);

/** Two letters, in any case. */
export const countryCode: Field = fieldOf(
  ["IT", "it", "Gb", "ZZ"],
  ["", "I", "ITA", "I1", "ÎT", "I ", " IT", "IT\n", "意大", ...valuesExcept("string")],
  fc.string({ unit: fc.constantFrom("A", "z", "é", "ı", "K", " "), maxLength: 3 }),
);

const realDays = split(
  `2000-02-29 2024-02-29 2026-12-31 2026-01-01 1970-01-01 0001-01-01 9999-12-31 2026-04-30`,
);
const unrealDays = [
  ...split(
    `2023-02-29 1900-02-29 2100-02-29 2026-02-30 2026-04-31 2026-13-01 2026-00-10 2026-01-00 2026-01-32`,
  ),
  ...split(`2026-1-1 26-01-31 20260131 31/01/2026 2026-W05-6 2026-031 +002026-01-31 -2026-01-31 2026-01-31x`),
  ...split(`２０２６-01-31 2026–01–31 yesterday`),
  "",
  " 2026-01-31",
  "2026-01-31\n",
];

/** Every day from the year 0001 to 9999, by the runtime's calendar. */
const realDay = fc.oneof(
  fc.constantFrom(...realDays),
  fc
    .date({
      min: new Date("0001-01-01T00:00:00Z"),
      max: new Date("9999-12-31T23:59:59Z"),
      noInvalidDate: true,
    })
    .map((date) => date.toISOString().slice(0, 10)),
);

const pad = (value: number, width = 2) => String(value).padStart(width, "0");
const upTo = (max: number) => fc.integer({ min: 0, max }).map((value) => pad(value));

/** A real day about half of the time. */
const almostDay = fc
  .tuple(fc.integer({ min: 0, max: 9_999 }), upTo(14), upTo(33))
  .map(([year, month, dayOfMonth]) => `${pad(year, 4)}-${month}-${dayOfMonth}`);
const endOfFebruary = fc
  .tuple(upTo(99), fc.constantFrom("00", "04", "25", "50", "99"), fc.constantFrom("28", "29", "30"))
  .map(([century, year, dayOfMonth]) => `${century}${year}-02-${dayOfMonth}`);

export const day: Field = fieldOf(
  realDays,
  [...unrealDays, "2026-01-31T00:00:00Z", ...valuesExcept("string")],
  realDay,
  almostDay,
  endOfFebruary,
);

const validTimes = [
  ...split(`00:00 23:59 09:30:00 09:30:59Z 09:30Z 09:30:00.5 09:30:00.123456789Z 09:30:00,5Z 09:30+02:00`),
  ...split(`09:30:00-11:45 09:30:00.000+14:00 09:30:00+02 09:30:00-00:00 09:30:00+23:59`),
];
const invalidTimes = [
  ...split(
    `24:00:01 25:00:00Z 09:60:00Z 09:30:61Z 9:30:00Z 09:30:00.Z 09:3 09:30:00z0 0930:00 09:30:00+ 09:30:00+1`,
  ),
  ...split(`09:30:00+24:00 09:30:00+05:60 09`),
  "",
  "09:30:00Z ",
  "09:30:00Z\n",
  "09:30:00 CET",
];
const notDateTimes = ["Sat, 31 Jan 2026 09:30:00 GMT", "1769851800", "2026-01-31 25:00:00", "T09:30:00Z"];
const after = (times: readonly string[], date = "2026-01-31") => times.map((time) => `${date}T${time}`);

const fraction = fc
  .tuple(fc.constantFrom(".", ","), fc.integer({ min: 1, max: 9 }), fc.integer({ min: 0, max: 9 }))
  .map(([mark, digits, digit]) => mark + String(digit).repeat(digits));
const seconds = fc
  .tuple(upTo(59), fc.option(fraction, { nil: "" }))
  .map(([whole, part]) => `:${whole}${part}`);
const offset = fc.oneof(
  fc.constantFrom(...split("Z +00:00 -00:00 +05:30 -11:45 +14:00 +23:59 +02 -11"), ""),
  fc
    .tuple(fc.constantFrom("+", "-"), upTo(14), upTo(59))
    .map(([sign, hour, minute]) => `${sign}${hour}:${minute}`),
);
const validTime = fc
  .tuple(upTo(23), upTo(59), fc.option(seconds, { nil: "" }), offset)
  .map(([hour, minute, second, zone]) => `${hour}:${minute}${second}${zone}`);

const anyDay = fc.oneof(realDay, almostDay, fc.constantFrom(...unrealDays));
const anyTime = fc.oneof(validTime, fc.constantFrom(...invalidTimes));
const anyDateTime = fc.tuple(anyDay, anyTime).map((parts) => parts.join("T"));
const unusualSeconds = ["", ":00", ":60", ":00.", ":00.1234567890123456789"];
const unusualOffset = fc.oneof(offset, fc.constantFrom("z", "+0200", "-0", "+2:00", " Z", "+14:60"));
const almostDateTime = fc
  .tuple(
    almostDay,
    fc.constantFrom("T", "t", " ", ""),
    upTo(25),
    upTo(61),
    fc.constantFrom(...unusualSeconds),
    unusualOffset,
  )
  .map(([date, mark, hour, minute, second, zone]) => `${date}${mark}${hour}:${minute}${second}${zone}`);

/** A day, `T` and a time; seconds and offset may be absent. */
export const dateTime: Field = fieldOf(
  [...after(validTimes), "2024-02-29T00:00Z"],
  [...after(invalidTimes), "2023-02-29T00:00Z", ...realDays, ...notDateTimes, ...valuesExcept("string")],
  anyDateTime,
  almostDateTime,
  realDay,
);

export const dayOrDateTime: Field = fieldOf(
  [...realDays, ...after(validTimes)],
  [...unrealDays, ...after(invalidTimes), ...notDateTimes, ...valuesExcept("string")],
  anyDateTime,
  almostDateTime,
  anyDay,
);

/** The fields of an object, and the rule for unknown keys. */
export interface Shape {
  readonly fields: Readonly<Record<string, Field>>;
  /** The fields that it needs, in each of the ways to be valid. */
  readonly required: readonly [readonly string[], ...(readonly string[])[]];
  readonly unknownKeys: "refused" | "passed on";
}

export type Json = Record<string, unknown>;

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

/** An object of the shape, as a field or as a whole body: fixed ones with one change each, and others with some. */
export function nested(shape: Shape): Field {
  const { fields, required, unknownKeys } = shape;
  const [needed, ...others] = required;
  const minimalOf = (names: readonly string[]): Json =>
    Object.fromEntries(names.map((name) => [name, fields[name]?.allowed[0]]));
  const minimal = minimalOf(needed);
  const broken = [
    ...(others.length > 0 ? [] : needed).flatMap((name) => [without(minimal, name), renamed(minimal, name)]),
    ...unknownNames.map((key) => ({ ...minimal, [key]: unknownKeys === "refused" ? "text" : null })),
    ...(unknownKeys === "refused" ? Object.keys(fields) : []).map((name) =>
      renamed({ [name]: "text", ...minimal }, name),
    ),
  ];
  return {
    allowed: [...required.map(minimalOf), ...changesTo(minimal, shape, "allowed")],
    forbidden: [...changesTo(minimal, shape, "forbidden"), ...broken, ...valuesExcept("object"), [minimal]],
    any: fc.oneof(
      { weight: 6, arbitrary: fc.oneof(...required.map((names) => anyObject(shape, names))) },
      { weight: 1, arbitrary: anyJson },
    ),
  };
}

/** One object for each fixed value of each field. */
function changesTo(object: Json, { fields }: Shape, kind: "allowed" | "forbidden"): Json[] {
  return Object.entries(fields).flatMap(([name, field]) =>
    field[kind].map((value) => ({ ...object, [name]: value })),
  );
}

/** An object of allowed values, with none, one or two changes of any kind. */
function anyObject({ fields }: Shape, required: readonly string[]): fc.Arbitrary<Json> {
  const entries = Object.entries(fields);
  const allowed = Object.fromEntries(entries.map(([name, each]) => [name, fc.constantFrom(...each.allowed)]));
  const name = fc.constantFrom(...Object.keys(fields));
  const key = fc.constantFrom(...unknownNames, "__proto__");
  const set = (at: string, value: unknown) => (object: Json) => ({ ...object, [at]: value });
  const own = entries.map(([at, { any }]) => any.map((value) => set(at, value)));
  const change = fc.oneof(
    { weight: 6, arbitrary: fc.oneof(...own) },
    { weight: 2, arbitrary: fc.tuple(fc.oneof(name, key), anyJson).map(([at, value]) => set(at, value)) },
    { weight: 1, arbitrary: name.map((at) => (object: Json) => without(object, at)) },
    { weight: 1, arbitrary: name.map((at) => (object: Json) => renamed(object, at)) },
  );
  return fc
    .tuple(fc.record(allowed, { requiredKeys: [...required] }), fc.array(change, { maxLength: 2 }))
    .map(([object, changes]) => changes.reduce<Json>((changed, each) => each(changed), object));
}

function without(object: Json, name: string): Json {
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
