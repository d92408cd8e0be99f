import { explain } from "./explain.ts";
import type { TextField } from "./field.ts";
import { format } from "./format.ts";
import { isDate } from "./is-date.ts";
import { text } from "./text.ts";

const dayPattern = /^\d{4}-\d{2}-\d{2}$/;

/** A day that the calendar has, as `YYYY-MM-DD`. */
export function isDay(given: string): boolean {
  if (given.length !== 10 || !dayPattern.test(given)) return false;
  const year = Number(given.slice(0, 4));
  const month = Number(given.slice(5, 7));
  const dayOfMonth = Number(given.slice(8));
  return dayOfMonth >= 1 && dayOfMonth <= daysIn(month, year);
}

function daysIn(month: number, year: number): number {
  if (month === 2) return isLeap(year) ? 29 : 28;
  if (month < 1 || month > 12) return 0;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

function isLeap(year: number): boolean {
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
}

/** A day as text (`dob`, `birthDate`). A `Date` is refused: it has a time zone, so it can mean the day before or after. */
export function day(): TextField {
  return text([format({ name: "date", shown, isValid: isDay, message: dayRule })], (issue) =>
    isDate(issue.input) ? dateHasZone : explain(issue),
  );
}

const shown = { format: "date", pattern: dayPattern.source };
const dayRule = "must be a day of the calendar, written YYYY-MM-DD";
const dateHasZone =
  "must be a day as text, YYYY-MM-DD: a Date has a time zone, so it can mean the day before or after";
