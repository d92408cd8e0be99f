// The error family: one file for each kind of end that a call can have.
export {
  AudienceError,
  endWith,
  isAudienceError,
  showCaller,
  type ErrorRequest,
  type Outcome,
} from "./errors/audience-error.ts";
export { ConfigurationError } from "./errors/configuration-error.ts";
export { ValidationError, type ValidationIssue } from "./errors/validation-error.ts";
export {
  ApiError,
  AuthenticationError,
  BadRequestError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  ServerError,
} from "./errors/api-errors.ts";
export { ConnectionError, TimeoutError, type ConnectionFailureReason } from "./errors/connection-errors.ts";
export { RedirectError, UnexpectedResponseError } from "./errors/answer-errors.ts";
export { RateLimitWaitError, type RateLimitWindow } from "./errors/rate-limit-wait-error.ts";
export { ClientClosedError } from "./errors/client-closed-error.ts";
export { AbortError } from "./errors/abort-error.ts";
export type { AnyAudienceError } from "./errors/any-audience-error.ts";
