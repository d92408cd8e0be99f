// The service responded with an error status: one class for each status that calls for an action of its own ("Errors").
import { AudienceError, type Details } from "./audience-error.ts";

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

const classes: Readonly<Record<number, typeof ApiError>> = {
  400: BadRequestError,
  401: AuthenticationError,
  403: PermissionError,
  404: NotFoundError,
};

/** The class for an error status, but for refusals: they may have any status (`isRateLimited`). */
export function apiErrorClass(status: number): typeof ApiError {
  return classes[status] ?? (status >= 500 ? ServerError : ApiError);
}
