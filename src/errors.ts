// The error family. The unions of codes derive from the classes, which needs `as const` where a class overrides its code.
import {
  type ConnectionFailureReason,
  type Details,
  type ErrorRequest,
  type Outcome,
  type RateLimitWindow,
  type ResponseFacts,
  type ValidationIssue,
  type WaitFacts,
  assignFacts,
} from "./error-facts.ts";
import { describeIssues, printableLines } from "./values/in-words.ts";

export type { ConnectionFailureReason, ErrorRequest, Outcome, RateLimitWindow, ValidationIssue };

// A registered symbol: the ESM build knows errors of the CommonJS build, and one copy those of another.
const errorBrand = Symbol.for("audience-sdk.error");

/** Whether a value is an error of this package, of any copy or module format. Then branch on its `code`. */
export function isAudienceError(value: unknown): value is AnyAudienceError {
  return typeof value === "object" && value !== null && errorBrand in value;
}

/**
 * The base class of all errors. Branch on `code` (or the class), and on `outcome` before you send a write again.
 *
 * ```ts
 * if (isAudienceError(error) && error.code === "validation") show(error.issues);
 * else if (isAudienceError(error) && error.outcome === "unknown") await lookBeforeSendingAgain(contact);
 * ```
 */
export abstract class AudienceError extends Error {
  /** The name of the class, even if a bundler has renamed the class. */
  override readonly name: string = "AudienceError";
  /** One code for each class. It works across copies of the package, where `instanceof` fails. */
  abstract readonly code: AnyAudienceError["code"];
  /** The effect of the write, over all attempts. */
  declare readonly outcome: Outcome;
  /** The failure behind this one; of an `AbortError` the signal's reason. The `lib`s before ES2022 do not declare it. */
  declare cause?: unknown;
  /** The call that failed; absent if there was none (a constructor's `ConfigurationError`). */
  declare readonly request?: ErrorRequest;
  /** Only of `events.send`: the id of every attempt. Send the event again with it, and the service records it once. */
  declare readonly uniqueIdentifier?: string;

  /** `facts` are the further properties of a class; undefined ones are left out. */
  constructor(message: string, outcome: Outcome, facts: Readonly<Record<string, unknown>> = {}) {
    const { cause, ...ownFacts } = facts;
    super(printableLines(message), cause === undefined ? undefined : { cause });
    assignFacts(this, { outcome, ...ownFacts });
    Object.defineProperty(this, errorBrand, { value: true });
  }

  /** All public properties and the message, for structured logs. */
  toJSON(): Record<string, unknown> {
    return Object.assign<Record<string, unknown>, this>({ message: this.message }, this);
  }
}

/** An option, or a function of yours (such as `fetch`), breaks its rule. With `"not-sent"` the call sent nothing. */
export class ConfigurationError extends AudienceError {
  override readonly name = "ConfigurationError";
  readonly code = "configuration";

  constructor(message: string, outcome: Outcome = "not-sent", cause?: unknown) {
    super(message, outcome, { cause });
  }
}

/** The input breaks a documented rule of the service. Nothing was sent; `issues` holds all problems. */
export class ValidationError extends AudienceError {
  override readonly name = "ValidationError";
  readonly code = "validation";
  /** All problems: of each field in the documented order, then of rules between fields and of unknown keys. */
  declare readonly issues: readonly ValidationIssue[];

  constructor(issues: readonly ValidationIssue[]) {
    const shown = issues.map((issue) => ({ ...issue, message: printableLines(issue.message) }));
    super(describeIssues(shown), "not-sent", { issues: shown });
  }
}

/** The service responded with an error status ("Errors"). */
export class ApiError extends AudienceError {
  override readonly name: string = "ApiError";
  readonly code: "api" | StatusError["code"] = "api";
  /** The HTTP status of the last response. */
  declare readonly status: number;
  /** The headers of the last response. API keys that the service echoes are removed. */
  declare readonly headers: Headers;
  /** The parsed JSON, else the string, at most 64 KiB; empty if there was none. Echoed API keys are removed. */
  declare readonly body: unknown;
  /** The wait that the service asked for (`Retry-After`), in milliseconds. */
  declare readonly retryAfterMs?: number;

  constructor({ message, outcome, ...facts }: Details<ResponseFacts>) {
    super(message, outcome, facts);
  }

  override toJSON(): Record<string, unknown> {
    return { ...super.toJSON(), headers: Object.fromEntries(this.headers) }; // JSON makes `{}` of `Headers`
  }
}

/** 400: the service refuses the request as it is. */
export class BadRequestError extends ApiError {
  override readonly name = "BadRequestError";
  override readonly code = "bad_request" as const;
}

/** 401: a key or the app id is missing or wrong ("Authentication"). */
export class AuthenticationError extends ApiError {
  override readonly name = "AuthenticationError";
  override readonly code = "authentication" as const;
}

/** 403: the key may not do this. */
export class PermissionError extends ApiError {
  override readonly name = "PermissionError";
  override readonly code = "permission" as const;
}

/** 404: no contact or list has the id, which the message names. `addContact` may still have created the contact. */
export class NotFoundError extends ApiError {
  override readonly name = "NotFoundError";
  override readonly code = "not_found" as const;
}

/** 429, or what `isRateLimited` names: over the rate limit, even after all retries ("Limits"). */
export class RateLimitError extends ApiError {
  override readonly name = "RateLimitError";
  override readonly code = "rate_limit" as const;
}

/** 5xx: the service, or a gateway before it, failed. A write may have been applied. */
export class ServerError extends ApiError {
  override readonly name = "ServerError";
  override readonly code = "server" as const;
}

/** No complete response arrived. */
export class ConnectionError extends AudienceError {
  override readonly name: string = "ConnectionError";
  readonly code: "connection" | TimeoutError["code"] = "connection";
  /** How the connection failed; `"other"` if the runtime does not say. */
  declare readonly reason: ConnectionFailureReason;

  constructor({ message, outcome, ...facts }: Details<{ reason: ConnectionFailureReason }>) {
    super(message, outcome, facts);
  }
}

/** `timeoutMs` or `deadlineMs` has passed. If the next attempt would begin too late, `cause` is the last one's error. */
export class TimeoutError extends ConnectionError {
  override readonly name = "TimeoutError";
  override readonly code = "timeout" as const;
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

  constructor({ message, ...facts }: WaitFacts & { message: string }) {
    super(message, "not-sent", facts);
  }
}

/** The client was closed before the call had ended. Calls that still waited were not sent. */
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

type StatusError =
  | BadRequestError
  | AuthenticationError
  | PermissionError
  | NotFoundError
  | RateLimitError
  | ServerError;

/** The union of all errors, discriminated by `code`. */
export type AnyAudienceError =
  | ConfigurationError
  | ValidationError
  | (ApiError & { readonly code: "api" })
  | StatusError
  | (ConnectionError & { readonly code: "connection" })
  | TimeoutError
  | UnexpectedResponseError
  | RedirectError
  | RateLimitWaitError
  | ClientClosedError
  | AbortError;
