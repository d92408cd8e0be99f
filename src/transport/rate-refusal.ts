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
    const returned = waitMs === undefined ? kindOf(finding) : `{ retryAfterMs: ${kindOf(waitMs)} }`;
    throw invalid(
      `returned ${returned}: it must return true, false, or { retryAfterMs } with milliseconds from 0`,
    );
  }
  const isRefusal = finding || candidate.status === 429;
  return isRefusal ? { retryAfterMs: refusalWaitMs(candidate.headers) } : undefined;
}

/** How long a refusal asks to wait, in milliseconds; undefined if neither header says so. Any other is `isRateLimited`'s. */
export function refusalWaitMs(headers: Headers): number | undefined {
  return retryAfterMs(headers) ?? waitOfHeader(headers.get("ratelimit-reset") ?? "", headers);
}

/** `Retry-After` in milliseconds, rounded up; undefined if it is missing or invalid. */
export function retryAfterMs(headers: Headers): number | undefined {
  return waitOfHeader(headers.get("retry-after") ?? "", headers);
}

const longestWaitMs = Number.MAX_SAFE_INTEGER;
/** 2024: ky's threshold too. A longer wait is meant as a Unix time. */
const earliestUnixTimeMs = Date.UTC(2024);
/** Between the values of a header that was given twice: the comma after a weekday belongs to its date. */
const betweenHeaderValues = /(?<=\d|GMT),\s*/i;

/** The longest wait that the header names: a gateway may have added its own to the service's. */
function waitOfHeader(header: string, headers: Headers): number | undefined {
  const waits = header.split(betweenHeaderValues).flatMap((value) => waitOfValue(value, headers) ?? []);
  return waits.length > 0 ? Math.max(...waits) : undefined;
}

/** The wait of one header value: a number of seconds, a date, or a Unix time, which some services give in milliseconds. */
function waitOfValue(value: string, headers: Headers): number | undefined {
  if (!/^\d+(\.\d+)?(e\d+)?$/i.test(value)) return waitUntil(parseDate(value), headers);
  const givenMs = Math.ceil(Number(value) * 1_000);
  if (givenMs < earliestUnixTimeMs) return givenMs;
  return waitUntil(givenMs < earliestUnixTimeMs * 1_000 ? givenMs : givenMs / 1_000, headers);
}

function waitUntil(retryAtMs: number | undefined, headers: Headers): number | undefined {
  if (retryAtMs === undefined) return undefined;
  // By the service's clock if its header says so: the local clock may be wrong.
  const respondedAt = parseDate(headers.get("date") ?? "") ?? Date.now();
  return Math.min(Math.max(0, retryAtMs - respondedAt), longestWaitMs);
}

/** The three date formats of HTTP, and ISO 8601: `Date.parse` alone accepts any number as a year. */
const dateFormat = /^((mon|tue|wed|thu|fri|sat|sun)[a-z]*,? |\d{4}-\d\d-\d\dT)/i;
const hasZone = /(GMT|UTC?|Z|[+-]\d\d:?\d\d)$/i;

function parseDate(value: string): number | undefined {
  if (!dateFormat.test(value)) return undefined;
  // HTTP dates are UTC, also in the format without a zone.
  const time = Date.parse(hasZone.test(value) ? value : `${value} GMT`);
  return Number.isNaN(time) ? undefined : time;
}
