import * as z from "zod";
import { copyAsJson } from "../values/copy-as-json.ts";
import { mustBe } from "../values/in-words.ts";
import { isDate } from "../values/predicates.ts";

/** A string with inclusive bounds, in code points (D2); zod's own `.min` and `.max` count UTF-16 units. */
export function boundedString(bounds: { minLength?: number; maxLength?: number }) {
  const { minLength = 0, maxLength = Infinity } = bounds;
  const schema = z.string().check(({ value: input, issues }) => {
    const length = countCharacters(input);
    const common = { origin: "string", inclusive: true, input, continue: true } as const;
    if (length < minLength) issues.push({ code: "too_small", minimum: minLength, ...common });
    if (length > maxLength) issues.push({ code: "too_big", maximum: maxLength, ...common });
  });
  return schema.meta({ ...bounds });
}

/** Counts code points: an emoji is one character. */
export function countCharacters(value: string): number {
  return value.replace(/[\ud800-\udbff][\udc00-\udfff]/g, " ").length;
}

export const nonBlankString = z.string().regex(/\S/, "must not be empty or blank");

const emailRule =
  "must be an e-mail address alone: one @ between two strings, without spaces, commas, semicolons, angle brackets, mailto: or quotes around it; strip a display name, and send each address by itself";

/** Linear in the length, as each part ends at its first `@`. Without flags, as it is a pattern of JSON Schema too. */
const emailPattern = /^(?![Mm][Aa][Ii][Ll][Tt][Oo]:)(?!["'“”„‘’«»].*["'“”„‘’«»]$)[^\s@,;<>]+@[^\s@,;<>]+$/;

/** Controls, halves of characters, and what Unicode does not show by default, but for a joiner between letters (RFC 8264, 9.13); tabs and line breaks are spaces. */
const hiddenInEmail =
  /(?![\t-\r]|[\u200c\u200d](?<=[\p{L}\p{M}].)[\p{L}\p{M}])[\p{Cc}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800\ufff9-\ufffb]/u;

/** Why a string is no e-mail address: one `@` between two strings, and nothing around it or hidden in it (D3). */
export function problemOfEmail(address: string): string | undefined {
  const hidden = hiddenInEmail.exec(address)?.[0].codePointAt(0);
  if (hidden !== undefined) {
    const code = hidden.toString(16).toUpperCase().padStart(4, "0");
    return `holds a character that does not show (U+${code}), and would be another person's address: remove it`;
  }
  return emailPattern.test(address) ? undefined : emailRule;
}

/** An e-mail address (D3). `missing` is the message if there is no address. */
export function emailAddress(missing?: string) {
  return stringThat(problemOfEmail, "email", missing).meta({ pattern: emailPattern.source });
}

/**
 * A string with a rule of ours. Not `z.stringFormat`: validators of JSON schemas either do not know its format, or refuse
 * more than the document does.
 */
function stringThat(problemOf: (value: string) => string | undefined, format: string, missing?: string) {
  return z
    .string({ error: ({ input }) => (input === undefined ? missing : undefined) })
    .check(({ value: input, issues }) => {
      const message = problemOf(input);
      if (message === undefined) return;
      issues.push({ code: "invalid_format", format, input, message, continue: true });
    });
}

/** A day of the calendar, as a string (D4). */
export const day = z.iso.date({
  error: ({ code, input }) =>
    code === "invalid_format" || isDate(input)
      ? "must be a day of the calendar, as a string: YYYY-MM-DD; a Date has a time zone"
      : undefined,
});

const timePattern = /T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d([.,]\d+)?)?(Z|[+-]([01]\d|2[0-3])(:?[0-5]\d)?)?$/;
/** A day of the calendar, `T`, a time; seconds, their fraction and the offset are optional (D5). */
const dateTimePattern = new RegExp(z.regexes.date.source.replace(/\$$/, timePattern.source));
// A date-time with twenty fraction digits is shorter: do not match a string of megabytes.
const longestDateTime = 64;

function isDateTime(value: string): boolean {
  return value.length <= longestDateTime && dateTimePattern.test(value);
}

// Not the format `date-time` of JSON Schema, which needs seconds and an offset.
const dateTimeJson = { type: "string", pattern: dateTimePattern.source };

/** A date-time as a string, or a valid `Date`, which is sent as ISO 8601 in UTC (`consent.createdAt`). */
export const dateTime = dateSchema(
  isDateTime,
  "an ISO 8601 date-time, such as 2026-01-31T09:30:00Z, or a valid Date",
  dateTimeJson,
);

/** A date-time or a day as a string, or a valid `Date` (`createdAt` of a v2 contact). */
export const dayOrDateTime = dateSchema(
  (value) => z.regexes.date.test(value) || isDateTime(value),
  "an ISO 8601 day or date-time, such as 2026-01-31 or 2026-01-31T09:30:00Z, or a valid Date",
  { anyOf: [dateTimeJson, { type: "string", format: "date" }] },
);

/** The schema of a day or a date-time. Not a union with `z.date()`, which has no JSON schema. */
function dateSchema(isValid: (value: string) => boolean, what: string, jsonSchema: Record<string, unknown>) {
  const schema = z.unknown().check(({ value: input, issues }) => {
    // The date as JSON sends it. A Date beyond four digits of the year becomes `+010000-01-01…` (D5).
    const text = isDate(input) && !Number.isNaN(input.getTime()) ? input.toISOString() : input;
    if (typeof text === "string") {
      if (isValid(text)) return;
      const message = `must be ${text === input ? what : "a Date of the years 0 to 9999"}`;
      issues.push({ code: "invalid_format", format: "datetime", input: text, message });
    } else {
      const message = input === undefined ? `required: ${what}` : mustBe(what, input);
      issues.push({ code: "invalid_type", expected: "date", input, message });
    }
  });
  // Safe: the check refuses all but strings and Dates.
  return schema.meta(jsonSchema) as unknown as z.ZodType<string | Date, string | Date>;
}

const ipv4OrIpv6 = z.union([z.ipv4(), z.ipv6()]);
// "ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255": zod's pattern overflows the stack at a string of megabytes.
const longestIpAddress = 45;

/** An IPv4 or IPv6 address, alone: no zone, no port, no prefix length ("v2 identifier object"). */
export const ipAddress = stringThat(
  (address) =>
    address.length <= longestIpAddress && ipv4OrIpv6.safeParse(address).success
      ? undefined
      : "must be an IPv4 or IPv6 address alone",
  "ip",
).meta({ anyOf: ["ipv4", "ipv6"].map((format) => ({ type: "string", format })) });

function refuseLost({ value, issues }: z.core.ParsePayload): void {
  if (value === undefined) return;
  for (const issue of copyAsJson(value).lost) issues.push({ ...issue, code: "custom", input: value });
}

/** Any value that JSON can carry, except `null`. */
export const jsonValue = z.unknown().check(refuseLost);

/** An object with any keys, whose values JSON can carry. */
export const jsonObject = z.record(z.string(), z.unknown()).check(refuseLost);
