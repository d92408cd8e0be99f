const longestMs = Number.MAX_SAFE_INTEGER;

/**
 * `Retry-After` in milliseconds, rounded up and never shortened; undefined if it is absent or says nothing usable.
 * A date is measured against the answer's own `Date`, where there is one: this machine's clock may be off.
 */
export function retryAfterMs(headers: Headers): number | undefined {
  const value = headers.get("retry-after")?.trim();
  if (!value) return undefined;
  if (/^\d+(\.\d+)?(e\d+)?$/i.test(value)) return Math.min(Math.ceil(Number(value) * 1_000), longestMs);
  const until = Date.parse(value);
  if (Number.isNaN(until)) return undefined;
  const serverNow = Date.parse(headers.get("date") ?? "");
  return Math.max(0, until - (Number.isNaN(serverNow) ? Date.now() : serverNow));
}
