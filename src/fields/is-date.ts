import { isObject } from "../is-object.ts";
/** Whether this is a `Date`, of this realm or another (in Jest, `fs` gives Dates of another), valid or not. */
export function isDate(value: unknown): value is Date {
  if (!isObject(value)) return false;
  try {
    Date.prototype.getTime.call(value);
    return true;
  } catch {
    return false;
  }
}
