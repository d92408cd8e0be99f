import { AudienceClient, RateLimiter, V1Client, V2Client, type Hooks, type RequestEvent } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { describe, expectTypeOf, it } from "vitest";

describe("A client", () => {
  it("is built from nothing, as the environment may hold it all", () => {
    void new AudienceClient();
  });

  it("is built from what the mock gives", () => {
    const { clientOptions } = createMockService();
    void new AudienceClient(clientOptions);
    void new V1Client(clientOptions);
    void new V2Client(clientOptions);
  });

  it("takes the global fetch, and one that needs a text and an init", () => {
    void new AudienceClient({ fetch });
    void new AudienceClient({ fetch: async (url: string, init: RequestInit) => fetch(url, init) });
  });

  it("takes a key, or a function that gives one, now or later", () => {
    void new AudienceClient({ apiKey: "key" });
    void new AudienceClient({ apiKey: () => "key" });
    void new AudienceClient({ apiKey: async () => "key" });
    // @ts-expect-error
    void new AudienceClient({ apiKey: 42 });
  });

  it("takes a limiter, its options, or none", () => {
    void new AudienceClient({ rateLimiter: new RateLimiter() });
    void new AudienceClient({ rateLimiter: { maxWaitMs: 1_000 } });
    void new AudienceClient({ rateLimiter: false });
    // @ts-expect-error the documented limits are what is used where nothing is said
    void new AudienceClient({ rateLimiter: true });
  });

  it("takes the console as its logger", () => {
    void new AudienceClient({ logger: console, logLevel: "debug" });
    // @ts-expect-error
    void new AudienceClient({ logger: { info() {} } });
  });

  it("refuses an option that it does not know", () => {
    // @ts-expect-error timeoutMs is meant
    void new AudienceClient({ timeout: 1_000 });
  });

  it("is given up by `await using`", () => {
    expectTypeOf<AudienceClient>().toExtend<AsyncDisposable>();
  });
});

describe("A view of a client", () => {
  it("is a client, and takes the same options", () => {
    expectTypeOf(new AudienceClient().withOptions({ maxRetries: 0 })).toEqualTypeOf<AudienceClient>();
    // @ts-expect-error
    void new AudienceClient().withOptions({ retries: 0 });
  });
});

describe("Closing", () => {
  it("is awaited, of each client, by name or by `await using`", async () => {
    expectTypeOf(new AudienceClient().close()).toEqualTypeOf<Promise<void>>();
    await using audience = new AudienceClient();
    await using v1 = new V1Client();
    await using v2 = new V2Client();
    expectTypeOf([audience, v1, v2]).toExtend<AsyncDisposable[]>();
    // @ts-expect-error what is in flight is waited for, so `using` alone would be too early
    using tooEarly = new AudienceClient();
    void tooEarly;
  });
});

describe("A hook", () => {
  it("is told one plain object, with what is known then", () => {
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
    // @ts-expect-error onResponse is meant, which tells of errors too
    void new AudienceClient({ hooks: { onError() {} } });
  });

  it("is never told a body, a header or an address", () => {
    expectTypeOf<Extract<keyof RequestEvent, "body" | "headers" | "url">>().toBeNever();
  });
});

describe("A call's options", () => {
  it("are known by name", () => {
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
    // @ts-expect-error only a list reads ahead
    void customers.get("c-1", { readAhead: 2 });
    // @ts-expect-error and it does so by its options, not by its query
    void customers.list({ readAhead: 2 });
  });
});
