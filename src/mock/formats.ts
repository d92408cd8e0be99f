/** The string formats of the service document; where it is silent, the rules of the guide. */

const DAY = /^(\d{4})-(\d{2})-(\d{2})$/;
// ISO 8601 also permits a decimal comma, and offsets of hours alone or without a colon.
const TIME = /^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d([.,]\d+)?)?(Z|[+-]([01]\d|2[0-3])(:?[0-5]\d)?)?$/;

/** A day of the calendar, `YYYY-MM-DD`; not 2023-02-29. */
export function isDay(value: string): boolean {
  const [, year, month, day] = DAY.exec(value)?.map(Number) ?? [];
  if (year === undefined || month === undefined || day === undefined) return false;
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1];
  return days !== undefined && day >= 1 && day <= days;
}

/** A day, `T` and a time; seconds and offset are optional. */
export function isDateTime(value: string): boolean {
  return value.charAt(10) === "T" && isDay(value.slice(0, 10)) && TIME.test(value.slice(11));
}

/** Characters around at least one `@`, without whitespace. */
export function isEmail(value: string): boolean {
  return /^[^\s]+@[^\s]+$/.test(value);
}

export function isCountryCode(value: string): boolean {
  return /^[A-Za-z]{2}$/.test(value);
}

export function isIpAddress(value: string): boolean {
  return isIpv4(value) || isIpv6(value);
}

function isIpv4(value: string): boolean {
  const parts = value.split(".");
  return parts.length === 4 && parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255);
}

function isIpv6(value: string): boolean {
  const halves = value.split("::");
  if (halves.length > 2) return false;
  const groups = halves.flatMap((half) => (half === "" ? [] : half.split(":")));
  const last = groups.at(-1);
  const endsInIpv4 = last !== undefined && last.includes(".") && !value.endsWith("::");
  if (endsInIpv4) groups.splice(-1, 1, ...(isIpv4(last) ? ["0", "0"] : ["not a group"]));
  if (!groups.every((group) => /^[\dA-Fa-f]{1,4}$/.test(group))) return false;
  return halves.length === 2 ? groups.length < 8 : groups.length === 8;
}
