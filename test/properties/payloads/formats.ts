import fc from "fast-check";
import { fieldOf, valuesExcept, split, type Field } from "./field.ts";

const halves = fc.oneof(
  fc.constantFrom(...split("a ada ADA.Lovelace+news o'brien 例 🎈 - [192.0.2.1]"), "\u200b"),
  fc
    .string({ unit: "binary", minLength: 1, maxLength: 8 })
    .filter((text) => !/[\s@,;<>"'“”„‘’«»]/u.test(text)),
);
const blanks = [" ", "\t", "\n", "\u00a0", "\u2028", "\ufeff", "\u3000"];

/** A string, an `@` and a string, without white space, and nothing around them. */
export const email: Field = fieldOf({
  allowed: split('ada@example.com ADA@Example.COM a@b 例@例.jp 🎈@🎈 "x"@x a@[192.0.2.1]'),
  forbidden: [
    "",
    ...split("@ @@ ada @example.com ada@"),
    ...blanks.flatMap((blank) => [
      `${blank}ada@example.com`,
      `ada@exa${blank}mple.com`,
      `ada@example.com${blank}`,
    ]),
    ...valuesExcept("string"),
  ],
  valid: fc.tuple(halves, halves).map((texts) => texts.join("@")),
  unclassified: fc.string({
    unit: fc.constantFrom("a", "@", " ", ",", "<", '"', "\ufeff", "\u200b", "\n"),
    maxLength: 6,
  }),
});

const quads = fc.array(fc.constantFrom("0", "1", "09", "255", "256", "ffff", ""), { maxLength: 9 });

export const ipAddress: Field = fieldOf({
  allowed: [
    ...split(
      "192.0.2.1 0.0.0.0 255.255.255.255 :: ::1 2001:db8::1 2001:DB8:0:0:0:0:0:1 1:2:3:4:5:6:7:: 1::8",
    ),
    ...split("::ffff:192.0.2.1 64:ff9b::192.0.2.33 1:2:3:4:5:6:192.0.2.1 ::2:3:4:5:6:7:8"),
  ],
  forbidden: [
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
  valid: fc.oneof(fc.ipV4(), fc.ipV6()),
  unclassified: fc.oneof(
    fc.string({ unit: fc.constantFrom("0", "1", "9", "25", "f", ":", "::", ".", "%"), maxLength: 9 }),
    quads.chain((parts) => fc.constantFrom(parts.join("."), parts.join(":"))),
  ),
});

/** Two letters, in any case. */
export const countryCode: Field = fieldOf({
  allowed: ["IT", "it", "Gb", "ZZ"],
  forbidden: ["", "I", "ITA", "I1", "ÎT", "I ", " IT", "IT\n", "意大", ...valuesExcept("string")],
  unclassified: fc.string({ unit: fc.constantFrom("A", "z", "é", "ı", "K", " "), maxLength: 3 }),
});
