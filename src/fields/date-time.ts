import * as z from "zod";

import { isDay } from "./day.ts";
import { wrongType } from "./explain.ts";
import { isDate } from "./is-date.ts";
import { shownAs } from "./json-schema.ts";

const timePattern =
  /^T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:[.,]\d+)?)?(?:Z|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)?$/;
// A date-time with twenty digits of a second's fraction is shorter: no need to match a text of megabytes.
const longestDateTime = 64;

/** An ISO 8601 date-time: a real day, `T`, a real time; seconds, their fraction and the offset may be missing. */
function isDateTime(text: string): boolean {
  return text.length <= longestDateTime && isDay(text.slice(0, 10)) && timePattern.test(text.slice(10));
}

/** A date-time as text, or a valid `Date`, which is sent as ISO 8601 in UTC (`consent.createdAt`). */
export function dateTime(): z.ZodType<string | Date, string | Date> {
  return moment(isDateTime, "must be an ISO 8601 date-time, such as 2026-01-31T09:30:00Z, or a valid Date", {
    type: "string",
    format: "date-time",
  });
}

/** A date-time or a day as text, or a valid `Date` (`createdAt` of a v2 contact). */
export function dayOrDateTime(): z.ZodType<string | Date, string | Date> {
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
  shown: z.core.JSONSchema.BaseSchema,
): z.ZodType<string | Date, string | Date> {
  const schema = z.unknown().check((payload) => {
    const { value } = payload;
    if (typeof value === "string") {
      if (!isValid(value))
        payload.issues.push({ code: "invalid_format", format: "datetime", input: value, message });
    } else if (!isDate(value)) {
      const typeMessage = wrongType("a date-time", value);
      payload.issues.push({ code: "invalid_type", expected: "string", input: value, message: typeMessage });
    } else if (Number.isNaN(value.getTime())) {
      payload.issues.push({
        code: "invalid_type",
        expected: "date",
        input: value,
        message: `${message}; this one is invalid`,
      });
    }
  });
  // True: the check lets only texts and Dates through.
  return shownAs(schema, shown) as unknown as z.ZodType<string | Date, string | Date>;
}
