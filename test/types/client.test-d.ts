import {
  AudienceClient,
  type AnyAudienceError,
  type AudienceError,
  type Fetch,
  isAudienceError,
  RateLimiter,
  type RateLimitWaitError,
  V1Client,
  V2Client,
  type ValidationError,
} from "audience-sdk";
import { fetch as undiciFetch, ProxyAgent } from "undici";
import { describe, expectTypeOf, it } from "vitest";

describe("A client", () => {
  it("accepts the global fetch, one that takes a string and an init, and that of npm's undici with a dispatcher", () => {
    void new AudienceClient({ fetch });
    void new AudienceClient({ fetch: async (url: string, init: RequestInit) => fetch(url, init) });
    void new AudienceClient({ fetch: undiciFetch });
    const dispatcher = new ProxyAgent("http://proxy:3128");
    void new AudienceClient({ fetch: (url, init) => undiciFetch(url, { ...init, dispatcher }) });
    expectTypeOf(undiciFetch).toExtend<Fetch>();
  });

  it("accepts a key or a function of it, also as a promise, and a limiter, its options or false", () => {
    void new AudienceClient({ apiKey: "key" });
    void new AudienceClient({ apiKey: () => "key" });
    void new AudienceClient({ apiKey: async () => "key" });
    // @ts-expect-error
    void new AudienceClient({ apiKey: 42 });
    void new AudienceClient({ rateLimiter: new RateLimiter() });
    void new AudienceClient({ rateLimiter: { maxWaitMs: 1_000 } });
    void new AudienceClient({ rateLimiter: false });
    // @ts-expect-error the default is the documented limits
    void new AudienceClient({ rateLimiter: true });
    // @ts-expect-error the name is timeoutMs
    void new AudienceClient({ timeout: 1_000 });
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
});

it("Closing is awaited for each client, explicitly or by `await using`", async () => {
  expectTypeOf([new AudienceClient(), new V1Client(), new V2Client()]).toExtend<AsyncDisposable[]>();
  // @ts-expect-error closing is asynchronous, so it needs `await using`
  using tooEarly = new AudienceClient();
  void tooEarly;
});

it("The options of a call have known names only", () => {
  const { customers } = new AudienceClient().v1;
  void customers.list({}, { readAhead: 2 });
  // @ts-expect-error
  void customers.get("c-1", { retries: 0 });
  // @ts-expect-error only a list has readAhead
  void customers.get("c-1", { readAhead: 2 });
  // @ts-expect-error readAhead is an option of the call, not of the query
  void customers.list({ readAhead: 2 });
});

/** The value of a `catch`. */
declare const thrown: unknown;

it("A thrown value is narrowed to an error of the package, and then by its code", () => {
  // @ts-expect-error it may be anything
  void thrown.code;
  if (!isAudienceError(thrown)) return;
  // @ts-expect-error not every error has issues
  void thrown.issues;
  if (thrown.code === "validation") expectTypeOf(thrown).toEqualTypeOf<ValidationError>();
  if (thrown.code === "rate_limit_wait") expectTypeOf(thrown).toEqualTypeOf<RateLimitWaitError>();
  // @ts-expect-error the name is "not_found"
  void (thrown.code === "notFound");
  expectTypeOf<AudienceError["code"]>().toEqualTypeOf<AnyAudienceError["code"]>();
});

it("An error cannot be changed", () => {
  // @ts-expect-error
  void ((error: AudienceError) => (error.outcome = "applied"));
  expectTypeOf<ValidationError["issues"]>().not.toHaveProperty("push");
});
