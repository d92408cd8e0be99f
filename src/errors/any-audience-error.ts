import type { AbortError } from "./abort-error.ts";
import type { RedirectError, UnexpectedResponseError } from "./answer-errors.ts";
import type {
  ApiError,
  AuthenticationError,
  BadRequestError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  ServerError,
} from "./api-errors.ts";
import type { ClientClosedError } from "./client-closed-error.ts";
import type { ConfigurationError } from "./configuration-error.ts";
import type { ConnectionError, TimeoutError } from "./connection-errors.ts";
import type { RateLimitWaitError } from "./rate-limit-wait-error.ts";
import type { ValidationError } from "./validation-error.ts";

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
