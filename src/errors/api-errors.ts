import { AudienceError, type Outcome } from "./audience-error.ts";

export interface ApiErrorDetails {
  message: string;
  outcome: Outcome;
  status: number;
  headers: Headers;
  body: unknown;
  retryAfterMs?: number | undefined;
}

type ApiErrorCode =
  | "api"
  | "bad_request"
  | "authentication"
  | "permission"
  | "not_found"
  | "rate_limit"
  | "server";

/** The service answered with an error status ("Errors"). `body` is the parsed JSON, else the text, at most 64 KiB. */
export class ApiError extends AudienceError {
  override readonly name: string = "ApiError";
  readonly code: ApiErrorCode = "api";
  /** The HTTP status of the last answer. */
  declare readonly status: number;
  /** The last answer's headers. A key that the service echoes is taken out. */
  declare readonly headers: Headers;
  /** The parsed JSON, else the text, at most 64 KiB; empty where there was none. A key that it echoes is taken out. */
  declare readonly body: unknown;
  /** How long the service asked to wait (`Retry-After`), in milliseconds. */
  declare readonly retryAfterMs?: number;

  constructor({ message, outcome, ...facts }: ApiErrorDetails) {
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
