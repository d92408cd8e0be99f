import { isDate } from "./is-date.ts";
import { wrongType } from "./explain.ts";
import type { FreeField, JsonSchema } from "./field.ts";
import { free } from "./free.ts";
import { isDay } from "./day.ts";

const timePattern = /^T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d([.,]\d+)?)?(Z|[+-]([01]\d|2[0-3])(:?[0-5]\d)?)?$/;
// A date-time with twenty digits of a second's fraction is shorter: no need to match a text of megabytes.
const longestDateTime = 64;

/** An ISO 8601 date-time: a real day, `T`, a real time; seconds, their fraction and the offset may be missing. */
function isDateTime(text: string): boolean {
  return text.length <= longestDateTime && isDay(text.slice(0, 10)) && timePattern.test(text.slice(10));
}

/** A date-time as text, or a valid `Date`, which is sent as ISO 8601 in UTC (`consent.createdAt`). */
/*! @__NO_SIDE_EFFECTS__ */
export function dateTime(): FreeField<string | Date> {
  return moment(isDateTime, "must be an ISO 8601 date-time, such as 2026-01-31T09:30:00Z, or a valid Date", {
    type: "string",
    format: "date-time",
  });
}

/** A date-time or a day as text, or a valid `Date` (`createdAt` of a v2 contact). */
/*! @__NO_SIDE_EFFECTS__ */
export function dayOrDateTime(): FreeField<string | Date> {
  return moment(
    (text) => isDay(text) || isDateTime(text),
    "must be an ISO 8601 day or date-time, such as 2026-01-31 or 2026-01-31T09:30:00Z, or a valid Date",
    {
      anyOf: [
        { type: "string", format: "date-time" },
        { type: "string", format: "date" },
      ],
    },
  );
}

function moment(
  isValid: (text: string) => boolean,
  message: string,
  shown: JsonSchema,
): FreeField<string | Date> {
  return free(({ value: input, issues }) => {
    if (typeof input === "string") {
      if (!isValid(input)) issues.push({ code: "invalid_format", format: "datetime", input, message });
    } else if (!isDate(input)) {
      issues.push({ code, expected: "string", input, message: wrongType("a date-time", input) });
    } else if (Number.isNaN(input.getTime())) {
      issues.push({ code, expected: "date", input, message: `${message}; this one is invalid` });
    }
  }, shown);
}

const code = "invalid_type";
