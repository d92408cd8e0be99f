import { ConfigurationError, type ApiError } from "../errors.ts";
import { isRecord, kindOf } from "../schema/kind-of.ts";
import { errorMessage, ignoreRejection } from "../schema/parse-options.ts";

/** A response that may refuse a call for its rate; the parts are those of an `ApiError`. */
export interface RateLimitCandidate extends Pick<ApiError, "status" | "headers" | "body"> {}

/**
 * Says which responses besides 429 refuse a call because the rate limit is exceeded: the service does not document its
 * refusals, and a gateway may respond with 403 or 503 ("Limits"). Such a response pauses all calls, and the refused call is
 * sent again.
 *
 * `retryAfterMs` names the wait where a body does. It goes before the headers; only the pause of a 429, which begins with
 * its headers, does not become shorter.
 *
 * ```ts
 * new AudienceClient({ isRateLimited: ({ status, headers }) => status === 403 && headers.has("x-waf-limit") });
 * ```
 */
export type IsRateLimited = (response: RateLimitCandidate) => boolean | { readonly retryAfterMs: number };

/** The wait that a refusal names; undefined for any other response. Throws a `ConfigurationError` if `isRateLimited` fails. */
export function findRefusal(
  candidate: RateLimitCandidate,
  isRateLimited: IsRateLimited = () => false,
): { retryAfterMs: number | undefined } | undefined {
  // The service has received the request.
  const invalid = (problem: string) => new ConfigurationError(`isRateLimited ${problem}.`, "unknown");
  let finding: unknown;
  try {
    finding = isRateLimited(candidate);
  } catch (error) {
    throw invalid(`threw ${errorMessage(error)}`);
  }
  ignoreRejection(finding);
  const waitMs = isRecord(finding) ? finding["retryAfterMs"] : undefined;
  if (typeof waitMs === "number" && waitMs >= 0) return { retryAfterMs: waitMs };
  if (typeof finding !== "boolean") {
    const found = waitMs === undefined ? kindOf(finding) : `{ retryAfterMs: ${kindOf(waitMs)} }`;
    throw invalid(
      `returned ${found}: it must return true, false, or { retryAfterMs } with milliseconds from 0`,
    );
  }
  const isRefusal = finding || candidate.status === 429;
  return isRefusal ? { retryAfterMs: refusalWaitMs(candidate.headers) } : undefined;
}

/** The headers with the end of a limit, in ky's order: seconds, a date, or the Unix time of the end. */
const resetHeaders = [
  "ratelimit-reset",
  "x-ratelimit-retry-after",
  "x-ratelimit-reset",
  "x-rate-limit-reset",
] as const;

/** How long a refusal asks to wait, in milliseconds; undefined if no header says so. */
export function refusalWaitMs(headers: Headers): number | undefined {
  const requestedMs = retryAfterMs(headers);
  if (requestedMs !== undefined) return requestedMs;
  for (const name of resetHeaders) {
    const waitMs = waitOf(headers.get(name) ?? "", headers);
    if (waitMs === undefined) continue;
    if (waitMs < earliestUnixTimeMs) return waitMs;
    // Some services give the Unix time in milliseconds.
    const endMs = waitMs < earliestUnixTimeMs * 1_000 ? waitMs : waitMs / 1_000;
    return Math.max(0, endMs - responseTime(headers));
  }
  return undefined;
}

/** 2024: a longer wait is meant as a time. */
const earliestUnixTimeMs = Date.UTC(2024);

/** `Retry-After` in milliseconds, rounded up; undefined if it is missing or invalid. */
export function retryAfterMs(headers: Headers): number | undefined {
  return waitOf(headers.get("retry-after") ?? "", headers);
}

const longestMs = Number.MAX_SAFE_INTEGER;
/** Between the values of a header that was given twice: the comma after a weekday belongs to its date. */
const betweenValues = /(?<=\d|GMT),\s*/i;

/** The longest wait that the header names: a gateway may have added its own to the service's. */
function waitOf(header: string, headers: Headers): number | undefined {
  const waits = header.split(betweenValues).flatMap((value) => waitOfOne(value, headers) ?? []);
  return waits.length > 0 ? Math.max(...waits) : undefined;
}

function waitOfOne(value: string, headers: Headers): number | undefined {
  if (/^\d+(\.\d+)?(e\d+)?$/i.test(value)) return Math.min(Math.ceil(Number(value) * 1_000), longestMs);
  const until = parseDate(value);
  return until === undefined ? undefined : Math.max(0, until - responseTime(headers));
}

/** The service's time of day if it says so: the local clock may be wrong. */
function responseTime(headers: Headers): number {
  return parseDate(headers.get("date") ?? "") ?? Date.now();
}

/** The three date formats of HTTP, and ISO 8601: `Date.parse` alone accepts any number as a year. */
const date = /^((mon|tue|wed|thu|fri|sat|sun)[a-z]*,? |\d{4}-\d\d-\d\dT)/i;
const hasZone = /(GMT|UTC?|Z|[+-]\d\d:?\d\d)$/i;

function parseDate(value: string): number | undefined {
  if (!date.test(value)) return undefined;
  // HTTP dates are UTC, also in the format without a zone.
  const time = Date.parse(hasZone.test(value) ? value : `${value} GMT`);
  return Number.isNaN(time) ? undefined : time;
}
