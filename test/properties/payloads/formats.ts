import fc from "fast-check";
import { anyJson, anyText, otherThan, type Field } from "./field.ts";

/** A text, an `@` and a text, no white space. */
const halves = fc.oneof(
  fc.constantFrom(
    "a",
    "ada",
    "ADA.Lovelace+news",
    "例",
    "🎈",
    "-",
    "@",
    "a@b",
    "\u200b",
    '"',
    "example.com",
    "[192.0.2.1]",
  ),
  fc.string({ unit: "binary", minLength: 1, maxLength: 8 }).filter((text) => !/\s/u.test(text)),
);

export const email: Field = {
  good: fc.tuple(halves, halves).map((texts) => texts.join("@")),
  bad: fc.oneof(
    fc.constantFrom("", "@", "@@", "ada", "@example.com", "ada@", " ada@example.com", "ada@example.com\n"),
    fc.constantFrom("a da@example.com", "ada@exa\u00a0mple.com", "ada@example.com\u2028", "ada example.com"),
    otherThan("text"),
  ),
  odd: fc.oneof(
    fc.string({ unit: fc.constantFrom("a", "@", " ", "\ufeff", "\u200b", "\n"), maxLength: 6 }),
    anyText,
    anyJson,
  ),
};

const pad = (value: number, width = 2) => String(value).padStart(width, "0");

/** Every day from the year 0001 to 9999, by the runtime's own calendar. */
const realDay = fc
  .date({ min: new Date("0001-01-01T00:00:00Z"), max: new Date("9999-12-31T23:59:59Z"), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10));

const famousDays = fc.constantFrom(
  "2000-02-29",
  "2024-02-29",
  "2026-12-31",
  "1970-01-01",
  "0001-01-01",
  "9999-12-31",
);

const unrealDays = [
  ...[
    "2023-02-29",
    "1900-02-29",
    "2100-02-29",
    "2026-02-30",
    "2026-04-31",
    "2026-13-01",
    "2026-00-10",
    "2026-01-00",
  ],
  ...[
    "2026-1-1",
    "26-01-31",
    "20260131",
    "31/01/2026",
    "2026-W05-6",
    "2026-031",
    "+002026-01-31",
    "-2026-01-31",
  ],
  ...["", " 2026-01-31", "2026-01-31\n", "2026-01-31x", "２０２６-01-31", "2026–01–31", "yesterday"],
];

const almostDay = fc
  .tuple(fc.integer({ min: 0, max: 9_999 }), fc.integer({ min: 0, max: 14 }), fc.integer({ min: 0, max: 33 }))
  .map(([year, month, day]) => `${pad(year, 4)}-${pad(month)}-${pad(day)}`);

const goodDay = fc.oneof(realDay, famousDays);

export const day: Field = {
  good: goodDay,
  bad: fc.oneof(fc.constantFrom(...unrealDays, "2026-01-31T00:00:00Z"), otherThan("text")),
  odd: fc.oneof(almostDay, anyText, anyJson),
};

const upTo = (max: number) => fc.integer({ min: 0, max }).map((value) => pad(value));
const fraction = fc
  .integer({ min: 1, max: 9 })
  .chain((digits) =>
    fc
      .tuple(fc.constantFrom(".", ","), fc.integer({ min: 0, max: 10 ** digits - 1 }))
      .map(([mark, value]) => mark + pad(value, digits)),
  );
const seconds = fc
  .tuple(upTo(59), fc.option(fraction, { nil: "" }))
  .map(([whole, part]) => `:${whole}${part}`);
const offset = fc.oneof(
  fc.constantFrom("", "Z", "+00:00", "-00:00", "+05:30", "-11:45", "+14:00", "+23:59", "+02", "-11"),
  fc
    .tuple(fc.constantFrom("+", "-"), upTo(14), upTo(59))
    .map(([sign, hour, minute]) => `${sign}${hour}:${minute}`),
);
const goodTime = fc
  .tuple(upTo(23), upTo(59), fc.option(seconds, { nil: "" }), offset)
  .map(([hour, minute, second, zone]) => `${hour}:${minute}${second}${zone}`);

const badTimes = [
  ...[
    "",
    "24:00:01",
    "25:00:00Z",
    "09:60:00Z",
    "09:30:61Z",
    "9:30:00Z",
    "09:30:00.Z",
    "09:3",
    "09:30:00z0",
    "0930:00",
  ],
  ...[
    "09:30:00Z ",
    "09:30:00Z\n",
    "09:30:00+",
    "09:30:00+1",
    "09:30:00+24:00",
    "09:30:00+05:60",
    "09:30:00 CET",
  ],
];

const goodDateTime = fc.tuple(goodDay, goodTime).map((parts) => parts.join("T"));
const badDateTime = fc.oneof(
  fc.tuple(goodDay, fc.constantFrom(...badTimes)).map((parts) => parts.join("T")),
  fc.tuple(fc.constantFrom(...unrealDays), goodTime).map((parts) => parts.join("T")),
  fc.constantFrom("Sat, 31 Jan 2026 09:30:00 GMT", "1769851800", "2026-01-31 25:00:00", "T09:30:00Z"),
);
const almostDateTime = fc
  .tuple(
    almostDay,
    fc.constantFrom("T", "t", " ", ""),
    upTo(25),
    upTo(61),
    fc.constantFrom("", ":00", ":60", ":00."),
    offset,
  )
  .map(([date, mark, hour, minute, second, zone]) => `${date}${mark}${hour}:${minute}${second}${zone}`);

/** A day, `T` and a time; seconds and offset may be absent. */
export const dateTime: Field = {
  good: goodDateTime,
  bad: fc.oneof(badDateTime, goodDay, otherThan("text")),
  odd: fc.oneof(almostDateTime, anyText, anyJson),
};

export const dayOrDateTime: Field = {
  good: fc.oneof(goodDay, goodDateTime),
  bad: fc.oneof(badDateTime, fc.constantFrom(...unrealDays), otherThan("text")),
  odd: fc.oneof(almostDateTime, almostDay, anyText, anyJson),
};

const addresses = [
  "192.0.2.1",
  "0.0.0.0",
  "255.255.255.255",
  "::",
  "::1",
  "2001:db8::1",
  "2001:DB8:0:0:0:0:0:1",
];
const mixedAddresses = [
  "::ffff:192.0.2.1",
  "64:ff9b::192.0.2.33",
  "1:2:3:4:5:6:192.0.2.1",
  "1::8",
  "1:2:3:4:5:6:7::",
];
const noAddresses = [
  ...[
    "",
    "localhost",
    "192.0.2",
    "192.0.2.256",
    "192.0.2.1.1",
    "192.0.2.01",
    "192.0.2.1:80",
    "192.0.2.0/24",
    "-1.0.0.0",
  ],
  ...[
    "::1%eth0",
    "[::1]",
    ":::",
    "1::2::3",
    "1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:8:9",
    "12345::",
    "g::",
    "192.0.2.1::",
    ":1",
    "1:",
  ],
  ...[" 192.0.2.1", "192.0.2.1\n", "0x7f.0.0.1", "2130706433", "1:2:3:4:5:6:7:192.0.2.1", "::192.0.2.256"],
];

export const ipAddress: Field = {
  good: fc.oneof(fc.constantFrom(...addresses, ...mixedAddresses), fc.ipV4(), fc.ipV6()),
  bad: fc.oneof(fc.constantFrom(...noAddresses), otherThan("text")),
  odd: fc.oneof(
    fc.string({ unit: fc.constantFrom("0", "1", "9", "25", "f", ":", "::", ".", "%"), maxLength: 9 }),
    fc
      .array(fc.constantFrom("0", "1", "09", "255", "256", "ffff", ""), { maxLength: 9 })
      .chain((parts) => fc.constantFrom(parts.join("."), parts.join(":"))),
    anyText,
    anyJson,
  ),
};

/** Two letters, in any case. */
export const countryCode: Field = {
  good: fc.constantFrom("IT", "it", "Gb", "ZZ"),
  bad: fc.oneof(fc.constantFrom("", "I", "ITA", "I1", "ÎT", "I ", " IT", "IT\n", "意大"), otherThan("text")),
  odd: fc.oneof(
    fc.string({ unit: fc.constantFrom("A", "z", "é", "ı", "K", " "), maxLength: 3 }),
    anyText,
    anyJson,
  ),
};
