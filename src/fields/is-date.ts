/** Whether this is a `Date`, of this realm or another (in Jest, `fs` gives Dates of another), valid or not. */
export function isDate(value: unknown): value is Date {
  if (typeof value !== "object" || value === null) return false;
  try {
    Date.prototype.getTime.call(value);
    return true;
  } catch {
    return false;
  }
}
