import {
  type AbortError,
  type AnyAudienceError,
  ApiError,
  type AudienceError,
  type AuthenticationError,
  type BadRequestError,
  type ClientClosedError,
  type ConfigurationError,
  ConnectionError,
  isAudienceError,
  type NotFoundError,
  type Outcome,
  type PermissionError,
  type RateLimitError,
  type RateLimitWaitError,
  type RedirectError,
  type ServerError,
  type TimeoutError,
  type UnexpectedResponseError,
  ValidationError,
  type ValidationIssue,
} from "audience-sdk";
import { describe, expectTypeOf, it } from "vitest";

/** The value of a `catch`. */
declare const thrown: unknown;

describe("A thrown value", () => {
  it("is narrowed to an SDK error before it is used", () => {
    // @ts-expect-error it may be anything
    void thrown.code;
    if (isAudienceError(thrown)) expectTypeOf(thrown).toExtend<AudienceError>();
  });

  it("is narrowed by its code to the properties of its class", () => {
    if (!isAudienceError(thrown)) return;
    // @ts-expect-error not every error has issues
    void thrown.issues;
    switch (thrown.code) {
      case "configuration":
        return expectTypeOf(thrown).toEqualTypeOf<ConfigurationError>();
      case "validation":
        expectTypeOf(thrown.issues).toEqualTypeOf<readonly ValidationIssue[]>();
        return expectTypeOf(thrown).toEqualTypeOf<ValidationError>();
      case "api":
        return expectTypeOf(thrown).toExtend<ApiError>();
      case "bad_request":
        return expectTypeOf(thrown).toEqualTypeOf<BadRequestError>();
      case "authentication":
        return expectTypeOf(thrown).toEqualTypeOf<AuthenticationError>();
      case "permission":
        return expectTypeOf(thrown).toEqualTypeOf<PermissionError>();
      case "not_found":
        return expectTypeOf(thrown).toEqualTypeOf<NotFoundError>();
      case "rate_limit":
        return expectTypeOf(thrown).toEqualTypeOf<RateLimitError>();
      case "server":
        return expectTypeOf(thrown).toEqualTypeOf<ServerError>();
      case "connection":
        return expectTypeOf(thrown).toExtend<ConnectionError>();
      case "timeout":
        return expectTypeOf(thrown).toEqualTypeOf<TimeoutError>();
      case "unexpected_response":
        return expectTypeOf(thrown).toEqualTypeOf<UnexpectedResponseError>();
      case "redirect":
        return expectTypeOf(thrown).toEqualTypeOf<RedirectError>();
      case "rate_limit_wait":
        return expectTypeOf(thrown).toEqualTypeOf<RateLimitWaitError>();
      case "closed":
        return expectTypeOf(thrown).toEqualTypeOf<ClientClosedError>();
      case "aborted":
        return expectTypeOf(thrown).toEqualTypeOf<AbortError>();
    }
    // There is no other code, because each case above returns.
    expectTypeOf(thrown).toBeNever();
  });

  it("cannot be compared with an unknown code", () => {
    // @ts-expect-error the name is "not_found"
    if (isAudienceError(thrown)) void (thrown.code === "notFound");
  });

  it("is narrowed by its class too", () => {
    if (thrown instanceof ApiError) {
      expectTypeOf(thrown.code).toEqualTypeOf<
        "api" | "bad_request" | "authentication" | "permission" | "not_found" | "rate_limit" | "server"
      >();
      expectTypeOf(thrown.status).toEqualTypeOf<number>();
      expectTypeOf(thrown.headers).toEqualTypeOf<Headers>();
      expectTypeOf(thrown.body).toEqualTypeOf<unknown>();
      expectTypeOf(thrown.retryAfterMs).toEqualTypeOf<number | undefined>();
    }
    if (thrown instanceof ConnectionError)
      expectTypeOf(thrown.code).toEqualTypeOf<"connection" | "timeout">();
    if (isAudienceError(thrown) && thrown instanceof ValidationError)
      expectTypeOf(thrown).toEqualTypeOf<ValidationError>();
  });
});

describe("Every error", () => {
  it("has the outcome and the call", () => {
    expectTypeOf<AnyAudienceError["outcome"]>().toEqualTypeOf<Outcome>();
    expectTypeOf<Outcome>().toEqualTypeOf<"not-sent" | "not-applied" | "applied" | "unknown">();
    expectTypeOf<AudienceError["uniqueIdentifier"]>().toEqualTypeOf<string | undefined>();
    expectTypeOf<NonNullable<AudienceError["request"]>["attempts"]>().toEqualTypeOf<number>();
    expectTypeOf<AudienceError["code"]>().toEqualTypeOf<AnyAudienceError["code"]>();
  });

  it("cannot be changed", () => {
    // @ts-expect-error
    void ((error: AudienceError) => (error.outcome = "applied"));
    expectTypeOf<ValidationError["issues"]>().not.toHaveProperty("push");
  });
});
