import {
  AudienceClient,
  RateLimiter,
  V1Client,
  V2Client,
  type Fetch,
  type Hooks,
  type RequestEvent,
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
import { createMockService } from "audience-sdk/mock";
import { fetch as undiciFetch, ProxyAgent } from "undici";
import { describe, expectTypeOf, it } from "vitest";

describe("A client", () => {
  it("can be constructed without options, because the environment may contain all of them", () => {
    void new AudienceClient();
  });

  it("can be constructed from the mock's client options", () => {
    const { clientOptions } = createMockService();
    void new AudienceClient(clientOptions);
    void new V1Client(clientOptions);
    void new V2Client(clientOptions);
  });

  it("accepts the global fetch, and one that takes a string and an init", () => {
    void new AudienceClient({ fetch });
    void new AudienceClient({ fetch: async (url: string, init: RequestInit) => fetch(url, init) });
  });

  it("accepts the fetch of npm's undici, as it is and around a dispatcher", () => {
    void new AudienceClient({ fetch: undiciFetch });
    const dispatcher = new ProxyAgent("http://proxy:3128");
    void new AudienceClient({ fetch: (url, init) => undiciFetch(url, { ...init, dispatcher }) });
    expectTypeOf(undiciFetch).toExtend<Fetch>();
  });

  it("accepts a key, or a function that returns one, also as a promise", () => {
    void new AudienceClient({ apiKey: "key" });
    void new AudienceClient({ apiKey: () => "key" });
    void new AudienceClient({ apiKey: async () => "key" });
    // @ts-expect-error
    void new AudienceClient({ apiKey: 42 });
  });

  it("accepts a limiter, its options, or false", () => {
    void new AudienceClient({ rateLimiter: new RateLimiter() });
    void new AudienceClient({ rateLimiter: { maxWaitMs: 1_000 } });
    void new AudienceClient({ rateLimiter: false });
    // @ts-expect-error the default is the documented limits
    void new AudienceClient({ rateLimiter: true });
  });

  it("accepts a logger with any of the four methods", () => {
    void new AudienceClient({ logger: console, logLevel: "debug" });
    // Nest's Logger has no `info`.
    class Nest {
      log(): void {}
      error(message: unknown): void {
        void message;
      }
      warn(message: unknown, ...more: unknown[]): void {
        void [message, more];
      }
      debug(message: unknown): void {
        void message;
      }
    }
    void new AudienceClient({ logger: new Nest() });
    // @ts-expect-error
    void new AudienceClient({ logger: { log() {} } });
  });

  it("accepts a base URL as a URL", () => {
    void new AudienceClient({ baseUrl: new URL("https://api.example.com") });
  });

  it("refuses an unknown option", () => {
    // @ts-expect-error the name is timeoutMs
    void new AudienceClient({ timeout: 1_000 });
  });

  it("is closed by `await using`", () => {
    expectTypeOf<AudienceClient>().toExtend<AsyncDisposable>();
  });
});

describe("A view of a client", () => {
  it("is a client, and accepts the same options", () => {
    expectTypeOf(new AudienceClient().withOptions({ maxRetries: 0 })).toEqualTypeOf<AudienceClient>();
    // @ts-expect-error
    void new AudienceClient().withOptions({ retries: 0 });
  });
});

describe("Closing", () => {
  it("is awaited for each client, explicitly or by `await using`", async () => {
    expectTypeOf(new AudienceClient().close()).toEqualTypeOf<Promise<void>>();
    await using audience = new AudienceClient();
    await using v1 = new V1Client();
    await using v2 = new V2Client();
    expectTypeOf([audience, v1, v2]).toExtend<AsyncDisposable[]>();
    // @ts-expect-error closing is asynchronous, so it needs `await using`
    using tooEarly = new AudienceClient();
    void tooEarly;
  });
});

describe("A hook", () => {
  it("receives one plain object with the facts known at that time", () => {
    const hooks: Hooks = {
      onRequest: (event) => expectTypeOf(event).toEqualTypeOf<RequestEvent>(),
      onRetry: ({ waitMs, error }) => {
        expectTypeOf(waitMs).toEqualTypeOf<number | undefined>();
        expectTypeOf(error).toEqualTypeOf<{ name: string; code: string; status?: number } | undefined>();
      },
    };
    void new AudienceClient({ hooks });
    expectTypeOf<RequestEvent["operation"]>().toExtend<string>();
  });

  it("has one of four names", () => {
    // @ts-expect-error onResponse is the name, for errors too
    void new AudienceClient({ hooks: { onError() {} } });
  });

  it("never receives a body, a header or an address", () => {
    expectTypeOf<Extract<keyof RequestEvent, "body" | "headers" | "url">>().toBeNever();
  });
});

describe("A call's options", () => {
  it("have known names only", () => {
    const { customers } = new AudienceClient().v1;
    void customers.get("c-1", {
      signal: AbortSignal.timeout(5),
      timeoutMs: 1,
      deadlineMs: 1,
      maxRetries: 0,
      maxWaitMs: 1,
    });
    void customers.get("c-1", { priority: 0, headers: { "x-trace": "1" }, repeatable: true });
    void customers.list({}, { readAhead: 2 });
    // @ts-expect-error
    void customers.get("c-1", { retries: 0 });
    // @ts-expect-error only a list has readAhead
    void customers.get("c-1", { readAhead: 2 });
    // @ts-expect-error readAhead is an option of the call, not of the query
    void customers.list({ readAhead: 2 });
  });
});

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
