// The error family: one class for each way in which a call can fail.
import type {
  ApiError,
  AuthenticationError,
  BadRequestError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  ServerError,
} from "./api-errors.ts";
import { AudienceError, type Details, type Outcome, isBranded } from "./audience-error.ts";

export * from "./api-errors.ts";
export * from "./audience-error.ts";

/** Whether a value is an error of this package, of any copy or module format. Then branch on its `code`. */
export function isAudienceError(value: unknown): value is AnyAudienceError {
  return isBranded(value);
}

/**
 * An option is missing, of a wrong type, or unsafe, or a function of yours (such as `fetch`, `isRateLimited` or that
 * of `bulk`) broke its rule. If `outcome` is `"not-sent"`, the call sent nothing.
 */
export class ConfigurationError extends AudienceError {
  override readonly name = "ConfigurationError";
  readonly code = "configuration";

  constructor(message: string, outcome: Outcome = "not-sent") {
    super(message, outcome);
  }
}

/** One problem of an input. `path` leads to the field: `["identifiers", 0, "consent", "ip"]`. */
export interface ValidationIssue {
  /** Empty for the input itself. */
  readonly path: (string | number)[];
  /** zod's code, such as `"too_big"` or `"unrecognized_keys"`. */
  readonly code: string;
  /** The rule, and the type or length that was found. */
  readonly message: string;
}

/** The input breaks a documented rule of the service. Nothing was sent; `issues` holds all problems. */
export class ValidationError extends AudienceError {
  override readonly name = "ValidationError";
  readonly code = "validation";
  /** All problems: of each field in the documented order, then of rules between fields and of unknown keys. */
  declare readonly issues: readonly ValidationIssue[];

  constructor(issues: readonly ValidationIssue[]) {
    super(describeIssues(issues), "not-sent", { issues });
  }
}

const shownIssues = 10;

function describeIssues(issues: readonly ValidationIssue[]): string {
  const lines = issues.slice(0, shownIssues).map(({ path, message }) => `${formatPath(path)}: ${message}`);
  const rest = issues.length - lines.length;
  if (rest > 0) lines.push(`and ${rest} more, see \`issues\``);
  return `Not sent, ${issues.length === 1 ? "1 problem" : `${issues.length} problems`} in the input:\n  ${lines.join("\n  ")}`;
}

function formatPath(path: readonly (string | number)[]): string {
  if (path.length === 0) return "(input)";
  return path.map((key, at) => (typeof key === "number" ? `[${key}]` : at === 0 ? key : `.${key}`)).join("");
}

/** Why no response arrived: `"other"` if the runtime does not say. */
export type ConnectionFailureReason = "refused" | "dns" | "tls" | "reset" | "other";

/** No complete response arrived. */
export class ConnectionError extends AudienceError {
  override readonly name: string = "ConnectionError";
  readonly code: "connection" | "timeout" = "connection";
  /** How the connection failed; `"other"` if the runtime does not say. */
  declare readonly reason: ConnectionFailureReason;

  constructor({ message, outcome, ...facts }: Details<{ reason: ConnectionFailureReason }>) {
    super(message, outcome, facts);
  }
}

/**
 * An attempt took longer than `timeoutMs`, or the call longer than `deadlineMs`. If the backoff would pass the deadline,
 * `cause` is the error of the last attempt.
 */
export class TimeoutError extends ConnectionError {
  override readonly name = "TimeoutError";
  override readonly code = "timeout";
  /** The time limit, in milliseconds. */
  declare readonly timeoutMs: number;

  constructor(details: Details<{ timeoutMs: number }>) {
    super({ ...details, reason: "other" });
  }
}

/** A 2xx whose body differs from the document, cannot be read, or is too large. */
export class UnexpectedResponseError extends AudienceError {
  override readonly name = "UnexpectedResponseError";
  readonly code = "unexpected_response";
  /** The 2xx status of the response. */
  declare readonly status: number;
  /** The parsed JSON, else the string, as far as it was read. */
  declare readonly body: unknown;

  constructor({ message, outcome, ...facts }: Details<{ status: number; body: unknown }>) {
    super(message, outcome, facts);
  }
}

/** The response was a redirect. The client never follows one: no key and no contact reaches another origin. */
export class RedirectError extends AudienceError {
  override readonly name = "RedirectError";
  readonly code = "redirect";
  /** The 3xx status of the response. */
  declare readonly status: number;
  /** The response's `Location` header. */
  declare readonly location?: string;

  constructor({ message, ...facts }: { message: string; status: number; location?: string | undefined }) {
    super(message, "not-applied", facts);
  }
}

/** One window of the rate limit: at most `limit` calls in any `intervalMs` milliseconds ("Limits"). */
export interface RateLimitWindow {
  /** The number of calls. */
  readonly limit: number;
  /** The window's length, in milliseconds. */
  readonly intervalMs: number;
}

/** The wait for the rate limit would be too long, or the queue is full. For a retry, `cause` is the failure before it. */
export class RateLimitWaitError extends AudienceError {
  override readonly name = "RateLimitWaitError";
  readonly code = "rate_limit_wait";
  /** The wait that would be needed, in milliseconds. */
  declare readonly waitMs: number;
  /** When to try again. */
  declare readonly retryAt: Date;
  /** The window that is full, if one is. */
  declare readonly window?: RateLimitWindow;

  constructor(details: {
    message: string;
    waitMs: number;
    retryAt: Date;
    window?: RateLimitWindow | undefined;
  }) {
    const { message, ...facts } = details;
    super(message, "not-sent", facts);
  }
}

/**
 * The client was closed before the call had ended. Calls that still waited were not sent.
 *
 * ```ts
 * if (isAudienceError(error) && error.code === "closed") return; // this process is stopping
 * ```
 */
export class ClientClosedError extends AudienceError {
  override readonly name = "ClientClosedError";
  readonly code = "closed";

  constructor(outcome: Outcome = "not-sent") {
    super("The client was closed.", outcome);
  }
}

/** The call's signal was aborted; `cause` is the signal's reason. */
export class AbortError extends AudienceError {
  override readonly name = "AbortError";
  readonly code = "aborted";

  constructor(details: { message?: string; outcome: Outcome; cause: unknown }) {
    super(details.message ?? "The call was aborted.", details.outcome, { cause: details.cause });
  }
}

/**
 * The union of all errors, discriminated by `code`.
 *
 * ```ts
 * if (isAudienceError(error) && error.code === "validation") show(error.issues);
 * ```
 */
export type AnyAudienceError =
  | ConfigurationError
  | ValidationError
  | (ApiError & { readonly code: "api" })
  | BadRequestError
  | AuthenticationError
  | PermissionError
  | NotFoundError
  | RateLimitError
  | ServerError
  | (ConnectionError & { readonly code: "connection" })
  | TimeoutError
  | UnexpectedResponseError
  | RedirectError
  | RateLimitWaitError
  | ClientClosedError
  | AbortError;
