import fc from "fast-check";
import { fieldOf, valuesExcept, split, type Field } from "./field.ts";

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

export const day: Field = fieldOf({
  allowed: realDays,
  forbidden: [...unrealDays, "2026-01-31T00:00:00Z", ...valuesExcept("string")],
  valid: realDay,
  unclassified: fc.oneof(almostDay, endOfFebruary),
});

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

const validDateTime = fc.tuple(realDay, validTime).map((parts) => parts.join("T"));
const invalidDateTime = fc.oneof(
  fc.tuple(realDay, fc.constantFrom(...invalidTimes)).map((parts) => parts.join("T")),
  fc.tuple(fc.constantFrom(...unrealDays), validTime).map((parts) => parts.join("T")),
);
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
export const dateTime: Field = fieldOf({
  allowed: [...after(validTimes), "2024-02-29T00:00Z"],
  forbidden: [
    ...after(invalidTimes),
    "2023-02-29T00:00Z",
    ...realDays,
    ...notDateTimes,
    ...valuesExcept("string"),
  ],
  valid: validDateTime,
  invalid: fc.oneof(invalidDateTime, realDay),
  unclassified: almostDateTime,
});

export const dayOrDateTime: Field = fieldOf({
  allowed: [...realDays, ...after(validTimes)],
  forbidden: [...unrealDays, ...after(invalidTimes), ...notDateTimes, ...valuesExcept("string")],
  valid: fc.oneof(realDay, validDateTime),
  invalid: invalidDateTime,
  unclassified: fc.oneof(almostDateTime, almostDay, endOfFebruary),
});
