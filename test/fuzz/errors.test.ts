import * as entry from "audience-sdk";
import { describe, expect, it } from "vitest";
import { hostileMessage } from "./build-value.ts";
import { tryEntryPoint } from "./try-entry-point.ts";

const { AudienceError } = entry;
const details = {
  message: "m",
  outcome: "unknown",
  status: 404,
  headers: new Headers({ "x-a": "1" }),
  body: { error: "no" },
  retryAfterMs: 5,
  reason: "reset",
  timeoutMs: 5,
  location: "/x",
  waitMs: 5,
  retryAt: new Date(0),
  window: { limit: 1, intervalMs: 1 },
  cause: new Error("c"),
};
const issues = [{ path: ["email", 0], code: "custom", message: "m" }];

const makers = [
  entry.AbortError,
  entry.ApiError,
  entry.AudienceError,
  entry.AuthenticationError,
  entry.BadRequestError,
  entry.ClientClosedError,
  entry.ConfigurationError,
  entry.ConnectionError,
  entry.NotFoundError,
  entry.PermissionError,
  entry.RateLimitError,
  entry.RateLimitWaitError,
  entry.RedirectError,
  entry.ServerError,
  entry.TimeoutError,
  entry.UnexpectedResponseError,
  entry.ValidationError,
];

/** The constructors of errors are typed; for other values the language, or the value itself, throws. */
function isTheirs(error: unknown): boolean {
  return (
    error instanceof TypeError ||
    error instanceof RangeError ||
    (error instanceof Error && error.message === hostileMessage)
  );
}

describe("For any arguments, an error constructor returns an instance of its class or throws", () => {
  it.each(makers.map((maker) => [maker.name, maker] as const))("%s", async (_, maker) => {
    const act = (...given: unknown[]) => {
      let error: unknown;
      try {
        error = Reflect.construct(maker, given);
      } catch (thrown) {
        if (!isTheirs(thrown)) throw thrown;
        return;
      }
      expect(entry.isAudienceError(error)).toBe(true);
      expect(error).toBeInstanceOf(maker);
      expect(error).toBeInstanceOf(AudienceError);
    };
    // The base class is abstract: only its subclasses set its outcome and details.
    const takes = maker === entry.AudienceError ? 1 : 3;
    await tryEntryPoint(
      { act, argumentCount: takes, valid: [[details, issues, "m"], ["unknown"], [details]] },
      60,
    );
  });
});
