const longestMs = Number.MAX_SAFE_INTEGER;

/** The three forms of a date in HTTP, and ISO 8601: `Date.parse` alone makes a year of any number. */
const date = /^((mon|tue|wed|thu|fri|sat|sun)[a-z]*,? |\d{4}-\d\d-\d\dT)/i;
const hasZone = /(GMT|UTC?|Z|[+-]\d\d:?\d\d)$/i;

/**
 * `Retry-After` in milliseconds, rounded up and never shortened; undefined if it is absent or says nothing usable.
 * A date is measured against the answer's own `Date`, where there is one: this machine's clock may be off.
 */
export function retryAfterMs(headers: Headers): number | undefined {
  const value = headers.get("retry-after") ?? "";
  if (/^\d+(\.\d+)?(e\d+)?$/i.test(value)) return Math.min(Math.ceil(Number(value) * 1_000), longestMs);
  const until = readDate(value);
  if (until === undefined) return undefined;
  return Math.max(0, until - (readDate(headers.get("date") ?? "") ?? Date.now()));
}

function readDate(value: string): number | undefined {
  if (!date.test(value)) return undefined;
  // Dates of HTTP are UTC, also in the form that does not say so.
  const time = Date.parse(hasZone.test(value) ? value : `${value} GMT`);
  return Number.isNaN(time) ? undefined : time;
}
