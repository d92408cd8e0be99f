import { explain } from "./explain.ts";
import type { TextField } from "./field.ts";
import { text } from "./text.ts";
import { isDate } from "./is-date.ts";
import { format } from "./format.ts";

const dayPattern = /^\d{4}-\d{2}-\d{2}$/;

/** A day that the calendar has, as `YYYY-MM-DD`. */
export function isDay(given: string): boolean {
  if (!dayPattern.test(given)) return false;
  // Some runtimes take the 30th of February for the 2nd of March; of no date at all the day is no number.
  return new Date(`${given}T00:00Z`).getUTCDate() === Number(given.slice(8));
}

/** A day as text (`dob`, `birthDate`). A `Date` is refused: it has a time zone, so it can mean the day before or after. */
/*! @__NO_SIDE_EFFECTS__ */
export function day(): TextField {
  const shown = { format: "date", pattern: dayPattern.source };
  return text([format({ name: "date", shown, isValid: isDay, message: dayRule })], (issue) =>
    isDate(issue.input) ? dateHasZone : explain(issue),
  );
}

const dayRule = "must be a day of the calendar, written YYYY-MM-DD";
const dateHasZone = "must be a day as text, YYYY-MM-DD: a Date has a time zone, too";
