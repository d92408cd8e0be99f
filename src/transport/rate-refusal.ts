import { ConfigurationError, type ApiError } from "../errors.ts";
import { errorMessage, ignoreRejection, kindOf } from "../values/in-words.ts";
import { isRecord } from "../values/predicates.ts";
import { maskAddresses } from "./redact.ts";

/** A response that may refuse a call for its rate; the parts are those of an `ApiError`. */
export interface RateLimitCandidate extends Pick<ApiError, "status" | "headers" | "body"> {}

/**
 * Says which responses besides 429 refuse a call because the rate limit is exceeded: the service does not document its
 * refusals, and a gateway may respond with 403 or 503 ("Limits"). Such a response pauses all calls, and the refused call is
 * sent again.
 *
 * `retryAfterMs` names the wait where a body does, and goes before any header.
 *
 * ```ts
 * new AudienceClient({ isRateLimited: ({ status, headers }) => status === 403 && headers.has("x-waf-limit") });
 * ```
 */
export type IsRateLimited = (response: RateLimitCandidate) => boolean | { readonly retryAfterMs: number };

/** A response that refuses a call for its rate. */
export interface RateRefusal {
  /** The wait that it names, in milliseconds. */
  readonly retryAfterMs: number | undefined;
}

/** The wait that a refusal names; undefined for any other response. Throws a `ConfigurationError` if `isRateLimited` fails. */
export function findRefusal(
  candidate: RateLimitCandidate,
  isRateLimited: IsRateLimited = () => false,
): RateRefusal | undefined {
  // The service has received the request.
  const invalid = (problem: string) => new ConfigurationError(`isRateLimited ${problem}.`, "unknown");
  let finding: unknown;
  try {
    finding = isRateLimited(candidate);
  } catch (error) {
    throw invalid(`threw ${maskAddresses(errorMessage(error))}`);
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

/** How long a refusal asks to wait, in milliseconds; undefined if neither header says so. Any other is `isRateLimited`'s. */
export function refusalWaitMs(headers: Headers): number | undefined {
  return retryAfterMs(headers) ?? waitOf(headers.get("ratelimit-reset") ?? "", headers);
}

/** `Retry-After` in milliseconds, rounded up; undefined if it is missing or invalid. */
export function retryAfterMs(headers: Headers): number | undefined {
  return waitOf(headers.get("retry-after") ?? "", headers);
}

const longestMs = Number.MAX_SAFE_INTEGER;
/** 2024: ky's threshold too. A longer wait is meant as a Unix time. */
const earliestUnixTimeMs = Date.UTC(2024);

/** Of a number of seconds, a Unix time in seconds, or an HTTP date. */
function waitOf(header: string, headers: Headers): number | undefined {
  const isNumber = /^\d+(\.\d+)?$/.test(header);
  const givenMs = isNumber ? Math.ceil(Number(header) * 1_000) : parseDate(header);
  if (givenMs === undefined || (isNumber && givenMs < earliestUnixTimeMs)) return givenMs;
  // The service's time of day if it says so: the local clock may be wrong.
  const now = parseDate(headers.get("date") ?? "") ?? Date.now();
  return Math.min(Math.max(0, givenMs - now), longestMs);
}

/** The three date formats of HTTP, all in UTC, one without its zone: `Date.parse` alone accepts any number as a year. */
function parseDate(value: string): number | undefined {
  if (!/^(mon|tue|wed|thu|fri|sat|sun)/i.test(value)) return undefined;
  const time = Date.parse(value.replace(/( GMT)?$/i, " GMT"));
  return Number.isNaN(time) ? undefined : time;
}
