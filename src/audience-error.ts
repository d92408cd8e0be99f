// The base of the error family, and the errors of responses.

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

/** The input of most constructors: message, outcome, and the facts of the class. */
export type Details<Facts> = Facts & { message: string; outcome: Outcome; cause?: unknown };

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
  abstract readonly code:
    | "configuration"
    | "validation"
    | "api"
    | "bad_request"
    | "authentication"
    | "permission"
    | "not_found"
    | "rate_limit"
    | "server"
    | "connection"
    | "timeout"
    | "unexpected_response"
    | "redirect"
    | "rate_limit_wait"
    | "closed"
    | "aborted";
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

/** Known by its symbol: an error of any copy or module format. */
export function isBranded(value: unknown): value is AudienceError {
  return typeof value === "object" && value !== null && brand in value;
}

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
  if (isBranded(error) && "captureStackTrace" in Error) Error.captureStackTrace(error, showCaller);
  return error;
}

// The service responded with an error status: one class for each status that calls for an action of its own ("Errors").

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

/** 429, or what `isRateLimited` names: over the rate limit, even after all retries ("Limits"). */
export class RateLimitError extends ApiError {
  override readonly name = "RateLimitError";
  override readonly code = "rate_limit";
}

/** 5xx: the service, or a gateway before it, failed. A write may have been applied. */
export class ServerError extends ApiError {
  override readonly name = "ServerError";
  override readonly code = "server";
}
