import fc from "fast-check";
import { fieldOf, otherThan, type Field } from "./field.ts";

const halves = fc.oneof(
  fc.constantFrom("a", "ada", "ADA.Lovelace+news", "例", "🎈", "-", "@", "a@b", "\u200b", '"', "[192.0.2.1]"),
  fc.string({ unit: "binary", minLength: 1, maxLength: 8 }).filter((text) => !/\s/u.test(text)),
);

/** A text, an `@` and a text, no white space. */
export const email: Field = fieldOf({
  allowed: [
    "ada@example.com",
    "ADA@Example.COM",
    "a@b",
    "a@@b",
    "@a@b",
    "a@b@c",
    "例@例.jp",
    "🎈@🎈",
    '"@"@x',
    "a@[192.0.2.1]",
  ],
  forbidden: [
    ...[
      "",
      "@",
      "@@",
      "ada",
      "@example.com",
      "ada@",
      " ada@example.com",
      "ada@example.com\n",
      "a da@example.com",
    ],
    ...[
      "ada@exa\u00a0mple.com",
      "ada@example.com\u2028",
      "\ufeffada@example.com",
      "ada example.com",
      "ada@\t",
    ],
    ...otherThan("text"),
  ],
  good: fc.tuple(halves, halves).map((texts) => texts.join("@")),
  odd: fc.string({ unit: fc.constantFrom("a", "@", " ", "\ufeff", "\u200b", "\n"), maxLength: 6 }),
});

const realDays = [
  "2000-02-29",
  "2024-02-29",
  "2026-12-31",
  "2026-01-01",
  "1970-01-01",
  "0001-01-01",
  "9999-12-31",
  "2026-04-30",
];
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
    "2026-01-32",
    "2026-1-1",
    "26-01-31",
    "20260131",
    "31/01/2026",
    "2026-W05-6",
    "2026-031",
    "+002026-01-31",
  ],
  ...[
    "-2026-01-31",
    "",
    " 2026-01-31",
    "2026-01-31\n",
    "2026-01-31x",
    "２０２６-01-31",
    "2026–01–31",
    "yesterday",
  ],
];

/** Every day from the year 0001 to 9999, by the runtime's own calendar. */
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

/** Real as often as not. */
const almostDay = fc
  .tuple(fc.integer({ min: 0, max: 9_999 }), fc.integer({ min: 0, max: 14 }), fc.integer({ min: 0, max: 33 }))
  .map(([year, month, dayOfMonth]) => `${pad(year, 4)}-${pad(month)}-${pad(dayOfMonth)}`);
const endOfFebruary = fc
  .tuple(
    fc.integer({ min: 0, max: 99 }),
    fc.constantFrom("00", "04", "25", "50", "99"),
    fc.constantFrom("28", "29", "30"),
  )
  .map(([century, year, dayOfMonth]) => `${pad(century)}${year}-02-${dayOfMonth}`);

export const day: Field = fieldOf({
  allowed: realDays,
  forbidden: [...unrealDays, "2026-01-31T00:00:00Z", ...otherThan("text")],
  good: realDay,
  odd: fc.oneof(almostDay, endOfFebruary),
});

const goodTimes = [
  ...[
    "00:00",
    "23:59",
    "09:30:00",
    "09:30:59Z",
    "09:30Z",
    "09:30:00.5",
    "09:30:00.123456789Z",
    "09:30:00,5Z",
  ],
  ...[
    "09:30+02:00",
    "09:30:00-11:45",
    "09:30:00.000+14:00",
    "09:30:00+02",
    "09:30:00-00:00",
    "09:30:00+23:59",
  ],
];
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
    "09",
  ],
];
const noMoments = ["Sat, 31 Jan 2026 09:30:00 GMT", "1769851800", "2026-01-31 25:00:00", "T09:30:00Z"];
const after = (times: readonly string[], date = "2026-01-31") => times.map((time) => `${date}T${time}`);

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

const goodDateTime = fc.tuple(realDay, goodTime).map((parts) => parts.join("T"));
const badDateTime = fc.oneof(
  fc.tuple(realDay, fc.constantFrom(...badTimes)).map((parts) => parts.join("T")),
  fc.tuple(fc.constantFrom(...unrealDays), goodTime).map((parts) => parts.join("T")),
);
const almostDateTime = fc
  .tuple(
    almostDay,
    fc.constantFrom("T", "t", " ", ""),
    upTo(25),
    upTo(61),
    fc.constantFrom("", ":00", ":60", ":00.", ":00.1234567890123456789"),
    fc.oneof(offset, fc.constantFrom("z", "+0200", "-0", "+2:00", " Z", "+14:60")),
  )
  .map(([date, mark, hour, minute, second, zone]) => `${date}${mark}${hour}:${minute}${second}${zone}`);

/** A day, `T` and a time; seconds and offset may be absent. */
export const dateTime: Field = fieldOf({
  allowed: [...after(goodTimes), ...after(["00:00Z"], "2024-02-29")],
  forbidden: [
    ...after(badTimes),
    ...after(["00:00Z"], "2023-02-29"),
    ...realDays,
    ...noMoments,
    ...otherThan("text"),
  ],
  good: goodDateTime,
  bad: fc.oneof(badDateTime, realDay),
  odd: almostDateTime,
});

export const dayOrDateTime: Field = fieldOf({
  allowed: [...realDays, ...after(goodTimes)],
  forbidden: [...unrealDays, ...after(badTimes), ...noMoments, ...otherThan("text")],
  good: fc.oneof(realDay, goodDateTime),
  bad: badDateTime,
  odd: fc.oneof(almostDateTime, almostDay, endOfFebruary),
});

export const ipAddress: Field = fieldOf({
  allowed: [
    ...[
      "192.0.2.1",
      "0.0.0.0",
      "255.255.255.255",
      "::",
      "::1",
      "2001:db8::1",
      "2001:DB8:0:0:0:0:0:1",
      "1:2:3:4:5:6:7::",
    ],
    ...["::ffff:192.0.2.1", "64:ff9b::192.0.2.33", "1:2:3:4:5:6:192.0.2.1", "1::8", "::2:3:4:5:6:7:8"],
  ],
  forbidden: [
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
      "1:",
    ],
    ...[
      ":1",
      " 192.0.2.1",
      "192.0.2.1\n",
      "0x7f.0.0.1",
      "2130706433",
      "1:2:3:4:5:6:7:192.0.2.1",
      "::192.0.2.256",
      "1:2:3:4:5:6:7:8::",
    ],
    ...otherThan("text"),
  ],
  good: fc.oneof(fc.ipV4(), fc.ipV6()),
  odd: fc.oneof(
    fc.string({ unit: fc.constantFrom("0", "1", "9", "25", "f", ":", "::", ".", "%"), maxLength: 9 }),
    fc
      .array(fc.constantFrom("0", "1", "09", "255", "256", "ffff", ""), { maxLength: 9 })
      .chain((parts) => fc.constantFrom(parts.join("."), parts.join(":"))),
  ),
});

/** Two letters, in any case. */
export const countryCode: Field = fieldOf({
  allowed: ["IT", "it", "Gb", "ZZ"],
  forbidden: ["", "I", "ITA", "I1", "ÎT", "I ", " IT", "IT\n", "意大", ...otherThan("text")],
  odd: fc.string({ unit: fc.constantFrom("A", "z", "é", "ı", "K", " "), maxLength: 3 }),
});
