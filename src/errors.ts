// The error family: one class for each way in which a call can fail.

/**
 * The effect of a failed write, over all attempts: it says whether sending the write again is safe.
 *
 * - `"not-sent"`: no request left this machine.
 * - `"not-applied"`: the service responded that it changed nothing. The worst outcome of a GET.
 * - `"applied"`: a response proves that the service carried out the write.
 * - `"unknown"`: the service may have carried out the write; look before you send it again.
 */
export type Outcome = "not-sent" | "not-applied" | "applied" | "unknown";

/** The call that failed. `path` is the endpoint's template, because an id in it may be an e-mail address. */
export interface ErrorRequest {
  /** Identifies the call, also in hooks and on the diagnostics channel; not sent to the service. */
  readonly requestId: string;
  /** The name of the call: `"v1.customers.upsert"`. */
  readonly operation: string;
  /** The HTTP method. */
  readonly method: string;
  /** The endpoint's template, ids left out: `/api/v1/customer/{id}`. */
  readonly path: string;
  /** The number of requests that the client sent or tried to send. */
  readonly attempts: number;
}

/** The constructor's input: message, outcome, and the facts of the class. */
type Details<Facts> = Facts & { message: string; outcome: Outcome; cause?: unknown };

// A registered symbol: the ESM build knows errors of the CommonJS build, and one copy those of another.
const brand = Symbol.for("audience-sdk.error");

/**
 * The base class of all errors. Branch on `code` (or the class), and on `outcome` before you send a write again.
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
  /** The name of the class, even if a bundler has renamed the class. */
  override readonly name: string = "AudienceError";
  /** One code for each class. It works across copies of the package, where `instanceof` fails. */
  abstract readonly code: AnyAudienceError["code"];
  /** The effect of the write, over all attempts. */
  readonly outcome: Outcome;
  /** The call that failed; absent if there was none (a constructor's `ConfigurationError`). */
  declare readonly request?: ErrorRequest;
  /** Only of `events.send`: the id of every attempt. Send the event again with it, and the service records it once. */
  declare readonly uniqueIdentifier?: string;

  /** `facts` are the further properties of a class; undefined ones are left out. */
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

  /** All public properties and the message, for structured logs. */
  toJSON(): Record<string, unknown> {
    const shown: Record<string, unknown> = { message: this.message };
    return Object.assign(shown, this);
  }
}

/** Whether a value is an error of this package, of any copy or module format. Then branch on its `code`. */
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
  /**
   * All problems: of each field in the documented order, then of rules between fields and of unknown keys.
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

/** The service responded with an error status ("Errors"). */
export class ApiError extends AudienceError {
  override readonly name: string = "ApiError";
  readonly code: ApiErrorCode = "api";
  /** The HTTP status of the last response. */
  declare readonly status: number;
  /** The headers of the last response. API keys that the service echoes are removed. */
  declare readonly headers: Headers;
  /** The parsed JSON, else the string, at most 64 KiB; empty if there was none. Echoed API keys are removed. */
  declare readonly body: unknown;
  /** The wait that the service asked for (`Retry-After`), in milliseconds. */
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

/** 404: no such contact, or no such list. `addContact` may still have created the contact. */
export class NotFoundError extends ApiError {
  override readonly name = "NotFoundError";
  override readonly code = "not_found";
}

/** 429: over the rate limit, even after all retries ("Limits"). */
export class RateLimitError extends ApiError {
  override readonly name = "RateLimitError";
  override readonly code = "rate_limit";
}

/** 5xx: the service, or a gateway before it, failed. A write may have been applied. */
export class ServerError extends ApiError {
  override readonly name = "ServerError";
  override readonly code = "server";
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

/** The wait for the rate limit would be too long, or the queue is full. */
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

/** Adds the outcome and the request of a call to its error. Only for the transport. */
export function endWith<E extends AudienceError>(
  error: E,
  ending: { outcome: Outcome; request: ErrorRequest; uniqueIdentifier?: string | undefined },
): E {
  note(error, ending);
  return error;
}

/** Assigns the facts that are not undefined. */
function note(error: AudienceError, facts: object): void {
  Object.assign(error, Object.fromEntries(Object.entries(facts).filter(([, fact]) => fact !== undefined)));
}

/**
 * Points an error's stack at the line that awaits the call, where the runtime can. An error from a timer or an event has
 * no line of the caller.
 */
export function showCaller<E>(error: E): E {
  if (isAudienceError(error) && "captureStackTrace" in Error) Error.captureStackTrace(error, showCaller);
  return error;
}
