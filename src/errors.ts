// The error family: one class for each kind of end that a call can have.

/**
 * What a write did, over all attempts of its call, so that a caller knows whether sending it again is safe.
 *
 * - `"not-sent"`: nothing left this machine.
 * - `"not-applied"`: the service responded that it did nothing. A failed GET is never worse than this.
 * - `"applied"`: a response proves that the write was carried out.
 * - `"unknown"`: the write may have been carried out; look before sending it again.
 */
export type Outcome = "not-sent" | "not-applied" | "applied" | "unknown";

/** The call that an error belongs to. `path` is the endpoint's template, as an id in it may be an e-mail address. */
export interface ErrorRequest {
  /** Names this call, in hooks and on the diagnostics channel too; not sent to the service. */
  readonly requestId: string;
  /** The call's name: `"v1.customers.upsert"`. */
  readonly operation: string;
  /** The HTTP method. */
  readonly method: string;
  /** The endpoint's template, ids left out: `/api/v1/customer/{id}`. */
  readonly path: string;
  /** How many requests were sent, or tried to be. */
  readonly attempts: number;
}

/** What an error is made of: its message, its outcome, and the facts of its class. */
type Details<Facts> = Facts & { message: string; outcome: Outcome; cause?: unknown };

// Registered, so that an error of the CommonJS build is known in the ESM build, and of one copy in another.
const brand = Symbol.for("audience-sdk.error");

/**
 * Every error of this package. Branch on `code` (or the class), and on `outcome` before sending a write again.
 *
 * ```ts
 * try {
 *   await audience.v1.customers.upsert(contact);
 * } catch (error) {
 *   if (isAudienceError(error) && error.outcome === "unknown") await lookBeforeSendingAgain(contact);
 *   else throw error;
 * }
 * ```
 */
export abstract class AudienceError extends Error {
  /** The class's name, also where a bundler has renamed the class. */
  override readonly name: string = "AudienceError";
  /** The kind of error, one for each class. It holds over copies of the package, where `instanceof` does not. */
  abstract readonly code: AnyAudienceError["code"];
  /** What the write did, over all attempts. */
  readonly outcome: Outcome;
  /** The call that failed; absent where there was none (a constructor's `ConfigurationError`). */
  declare readonly request?: ErrorRequest;
  /** Of `events.send` only: the id that every attempt carried. Send again with it, and the event is recorded once. */
  declare readonly uniqueIdentifier?: string;

  /** `facts` are what a class declares besides; those that are undefined are not there. */
  constructor(
    message: string,
    outcome: Outcome,
    { cause, ...facts }: { readonly cause?: unknown } & Readonly<Record<string, unknown>> = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.outcome = outcome;
    note(this, facts);
    Object.defineProperty(this, brand, { value: true });
  }

  /** All public fields and the message, for structured logs. */
  toJSON(): Record<string, unknown> {
    const shown: Record<string, unknown> = { message: this.message };
    return Object.assign(shown, this);
  }
}

/** Whether a value is an error of this package, of whichever copy or module format. Its `code` then tells which. */
export function isAudienceError(value: unknown): value is AnyAudienceError {
  return typeof value === "object" && value !== null && brand in value;
}

/** An option is missing, of a wrong type, or unsafe. Nothing was sent. */
export class ConfigurationError extends AudienceError {
  override readonly name = "ConfigurationError";
  readonly code = "configuration";

  constructor(message: string) {
    super(message, "not-sent");
  }
}

/** One thing that is wrong with an input. `path` leads to the field: `["identifiers", 0, "consent", "ip"]`. */
export interface ValidationIssue {
  /** Empty where it is the input itself. */
  readonly path: (string | number)[];
  /** zod's, such as `"too_big"` or `"unrecognized_keys"`. */
  readonly code: string;
  /** What is asked for, and what was found. */
  readonly message: string;
}

/** The input does not fit the service's documented rules. Nothing was sent; `issues` holds every problem at once. */
export class ValidationError extends AudienceError {
  override readonly name = "ValidationError";
  readonly code = "validation";
  /**
   * All problems: of each field in the order of the documented fields, then of the rules between them, and of keys that
   * are no field.
   */
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

/** `["identifiers", 0, "id"]` as `identifiers[0].id`; the input itself as `(input)`. */
function formatPath(path: readonly (string | number)[]): string {
  if (path.length === 0) return "(input)";
  return path.map((key, at) => (typeof key === "number" ? `[${key}]` : at === 0 ? key : `.${key}`)).join("");
}

type ApiErrorCode =
  | "api"
  | "bad_request"
  | "authentication"
  | "permission"
  | "not_found"
  | "rate_limit"
  | "server";

/** The service responded with an error status ("Errors"). `body` is the parsed JSON, else the text, at most 64 KiB. */
export class ApiError extends AudienceError {
  override readonly name: string = "ApiError";
  readonly code: ApiErrorCode = "api";
  /** The HTTP status of the last response. */
  declare readonly status: number;
  /** The last response's headers. A key that the service echoes is taken out. */
  declare readonly headers: Headers;
  /** The parsed JSON, else the text, at most 64 KiB; empty where there was none. A key that it echoes is taken out. */
  declare readonly body: unknown;
  /** How long the service asked to wait (`Retry-After`), in milliseconds. */
  declare readonly retryAfterMs?: number;

  constructor({
    message,
    outcome,
    ...facts
  }: Details<{ status: number; headers: Headers; body: unknown; retryAfterMs?: number | undefined }>) {
    super(message, outcome, facts);
  }

  override toJSON(): Record<string, unknown> {
    // JSON makes `{}` of a Headers object.
    return { ...super.toJSON(), headers: Object.fromEntries(this.headers) };
  }
}

/** 400: the service refuses the request as it is. */
export class BadRequestError extends ApiError {
  override readonly name = "BadRequestError";
  override readonly code = "bad_request";
}

/** 401: a key or the app id is missing or wrong ("Authentication"). */
export class AuthenticationError extends ApiError {
  override readonly name = "AuthenticationError";
  override readonly code = "authentication";
}

/** 403: the key may not do this. */
export class PermissionError extends ApiError {
  override readonly name = "PermissionError";
  override readonly code = "permission";
}

/** 404: no such contact, or no such list. On `addContact` the contact may have been created all the same. */
export class NotFoundError extends ApiError {
  override readonly name = "NotFoundError";
  override readonly code = "not_found";
}

/** 429: over the rate limit, and still so after all retries ("Limits"). */
export class RateLimitError extends ApiError {
  override readonly name = "RateLimitError";
  override readonly code = "rate_limit";
}

/** 5xx: the service, or a gateway before it, failed. A write may have been applied. */
export class ServerError extends ApiError {
  override readonly name = "ServerError";
  override readonly code = "server";
}

/** Why no response came: `"other"` where the runtime does not tell. */
export type ConnectionFailureReason = "refused" | "dns" | "tls" | "reset" | "other";

/** No full response came. `reason` tells how the connection failed, as far as the runtime tells. */
export class ConnectionError extends AudienceError {
  override readonly name: string = "ConnectionError";
  readonly code: "connection" | "timeout" = "connection";
  /** `"other"` where the runtime does not tell. */
  declare readonly reason: ConnectionFailureReason;

  constructor({ message, outcome, ...facts }: Details<{ reason: ConnectionFailureReason }>) {
    super(message, outcome, facts);
  }
}

/**
 * An attempt took longer than `timeoutMs`, or the call longer than `deadlineMs`. Where it is the backoff that would pass
 * the deadline, `cause` is the failure that was to be retried.
 */
export class TimeoutError extends ConnectionError {
  override readonly name = "TimeoutError";
  override readonly code = "timeout";
  /** The limit that passed, in milliseconds. */
  declare readonly timeoutMs: number;

  constructor(details: Details<{ timeoutMs: number }>) {
    super({ ...details, reason: "other" });
  }
}

/** A 2xx whose body is not what is documented, cannot be read, or is too large. */
export class UnexpectedResponseError extends AudienceError {
  override readonly name = "UnexpectedResponseError";
  readonly code = "unexpected_response";
  /** The 2xx of the response. */
  declare readonly status: number;
  /** The parsed JSON, else the text, as far as it was read. */
  declare readonly body: unknown;

  constructor({ message, outcome, ...facts }: Details<{ status: number; body: unknown }>) {
    super(message, outcome, facts);
  }
}

/** The response was a redirect. It is never followed, so no key and no contact leaves the origin that was given. */
export class RedirectError extends AudienceError {
  override readonly name = "RedirectError";
  readonly code = "redirect";
  /** The 3xx of the response. */
  declare readonly status: number;
  /** Where it leads, as the response says. */
  declare readonly location?: string;

  constructor({ message, ...facts }: { message: string; status: number; location?: string | undefined }) {
    super(message, "not-applied", facts);
  }
}

/** One window of the rate limit: at most `limit` calls in any `intervalMs` milliseconds ("Limits"). */
export interface RateLimitWindow {
  /** How many calls. */
  readonly limit: number;
  /** The window's length, in milliseconds. */
  readonly intervalMs: number;
}

/** The call would have to wait for the rate limit longer than it may, or the queue is full. */
export class RateLimitWaitError extends AudienceError {
  override readonly name = "RateLimitWaitError";
  readonly code = "rate_limit_wait";
  /** How long the wait would have been, in milliseconds. */
  declare readonly waitMs: number;
  /** When to try again. */
  declare readonly retryAt: Date;
  /** The window that is full, where one is. */
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
 * Every error of this package as one type, told apart by `code`.
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

/** Writes the end of its call onto an error. For the transport alone. */
export function endWith<E extends AudienceError>(
  error: E,
  ending: { outcome: Outcome; request: ErrorRequest; uniqueIdentifier?: string | undefined },
): E {
  note(error, ending);
  return error;
}

/** A fact that is undefined is left out, so that it does not show. */
function note(error: AudienceError, facts: object): void {
  Object.assign(error, Object.fromEntries(Object.entries(facts).filter(([, fact]) => fact !== undefined)));
}

/**
 * Makes an error's stack lead to whoever waits for the call, where the runtime can. An error that is made in a timer, an
 * event or a runtime's own code has no line of the caller's; looking again costs a call nothing that does not fail.
 */
export function showCaller<E>(error: E): E {
  if (isAudienceError(error) && "captureStackTrace" in Error) Error.captureStackTrace(error, showCaller);
  return error;
}
