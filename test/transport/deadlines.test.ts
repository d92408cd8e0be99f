import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { gzipSync } from "node:zlib";
import {
  AudienceClient,
  type ClientOptions,
  RateLimiter,
  RateLimitWaitError,
  type V1Client,
} from "audience-sdk";
import { createMockService, type MockServiceOptions } from "audience-sdk/mock";
import { afterEach, describe, expect, it, vi } from "vitest";
import { blockFor, serveInThread } from "./answering-thread.ts";
import { failureOf } from "./failure.ts";
import { contact, mockedClient, profileResponse, serve, useFakeTime, within } from "./fixture.ts";

const once = { maxRetries: 0 };
const hang = { kind: "hang" } as const;
const oneAMinute = { windows: [{ limit: 1, intervalMs: 60_000 }] };
const noKey = () => new Promise<string>(() => {});

async function neverEnding(): Promise<Response> {
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode('{"data":')),
    cancel: () => new Promise(() => {}),
  });
  return new Response(body);
}

afterEach(() => void vi.restoreAllMocks().useRealTimers());

describe("timeoutMs", () => {
  it.each<[string, ClientOptions, received: string]>([
    ["a service that does not respond", {}, "no headers"],
    ["a fetch that ignores its signal", { fetch: () => new Promise(() => {}) }, "no headers"],
    ["a body that never ends and cannot be cancelled", { fetch: neverEnding }, "not its whole body"],
  ])("ends an attempt with %s: the outcome is unknown", async (_, options, received) => {
    const { v1 } = mockedClient({ faults: [hang] }, options);

    const error = await failureOf(v1.customers.upsert(contact, { ...once, timeoutMs: 60 }));

    expect(error).toMatchObject({ code: "timeout", reason: "other", timeoutMs: 60, outcome: "unknown" });
    expect(error.message).toBe(`No complete response within timeoutMs (60 ms): ${received} received.`);
  });

  it("includes the time up to the last byte of the body, even if bytes keep arriving", async () => {
    const { options } = await serve((outgoing) => {
      outgoing.writeHead(200, { "content-type": "application/json" });
      const drip = setInterval(() => outgoing.write(" "), 10);
      outgoing.on("close", () => clearInterval(drip));
    });

    const { v1 } = new AudienceClient(options);
    const error = await failureOf(v1.customers.upsert(contact, { ...once, timeoutMs: 120 }));

    expect(error).toMatchObject({ code: "timeout", timeoutMs: 120, outcome: "unknown" });
  });

  it("does not include the wait in the queue", async () => {
    vi.useFakeTimers();
    const rateLimiter = new RateLimiter({ windows: [{ limit: 1, intervalMs: 1_000 }] });
    const { v1 } = mockedClient({}, { rateLimiter, timeoutMs: 100 });
    await v1.customers.list();

    const call = within(2_000, v1.customers.upsert(contact).withResponse());

    expect((await call).queuedMs).toBeGreaterThan(1_000);
  });

  it("applies to the key function, too: then nothing was sent", async () => {
    const { mock, audience } = mockedClient({}, { apiKey: noKey });

    const error = await failureOf(audience.v1.customers.upsert(contact, { ...once, timeoutMs: 40 }));

    expect(error).toMatchObject({ code: "timeout", outcome: "not-sent", request: { attempts: 0 } });
    expect(error.message).toBe("The key function returned no key within 40 ms; nothing was sent.");
    expect(mock.requests).toEqual([]);
  });

  it.each([Infinity, 2 ** 31, Number.MAX_VALUE])(
    "of %d ms means no limit, and does not fire at once",
    async (timeoutMs) => {
      const { v1 } = mockedClient({ latencyMs: 20 }, { timeoutMs, deadlineMs: timeoutMs });

      expect((await v1.customers.upsert(contact, once)).id).toBeDefined();
    },
  );
});

describe("By default", () => {
  useFakeTime();

  it("an attempt has 30 seconds, a call has 5 attempts and no deadline", async () => {
    const { mock, v1 } = mockedClient({ faults: [hang] });
    const startedAt = Date.now();

    const error = await within(300_000, failureOf(v1.customers.upsert(contact)));

    expect(error).toMatchObject({ code: "timeout", timeoutMs: 30_000, request: { attempts: 5 } });
    expect(mock.requests).toHaveLength(5);
    const secondAt = (mock.requests[1]?.arrivedAtMs ?? 0) - startedAt;
    expect(secondAt).toBeGreaterThanOrEqual(30_250);
    expect(secondAt).toBeLessThanOrEqual(30_510);
  });
});

describe("deadlineMs", () => {
  useFakeTime();

  /** How a write ends that has so much time. */
  const late = ({ v1 }: { v1: V1Client }, deadlineMs: number) =>
    within(20_000, failureOf(v1.customers.upsert(contact, { deadlineMs })));

  it("ends the call in flight with a TimeoutError: the outcome is unknown", async () => {
    const { mock, audience } = mockedClient({ faults: [hang] });
    const startedAt = Date.now();

    const error = await late(audience, 2_000);

    const request = { attempts: 1 };
    expect(error).toMatchObject({ code: "timeout", timeoutMs: 2_000, outcome: "unknown", request });
    expect(error.message).toBe("The call did not end within its deadline of 2000 ms.");
    expect(error).not.toHaveProperty("cause");
    expect(mock.requests[0]?.arrivedAtMs).toBe(startedAt);
  });

  it("applies to all attempts and backoffs together: no attempt begins after it", async () => {
    const startedAt = Date.now();
    const { mock, audience } = mockedClient({ faults: [{ kind: "500-before" }] }, { maxRetries: 50 });

    const error = await late(audience, 4_000);

    expect(error).toMatchObject({ code: "timeout", timeoutMs: 4_000, outcome: "unknown" });
    expect(error.request?.attempts).toBe(mock.requests.length);
    expect(mock.requests.at(-1)!.arrivedAtMs - startedAt).toBeLessThanOrEqual(4_000);
  });

  it("that ends before the expected wait in the queue rejects at once with a RateLimitWaitError, and nothing is sent", async () => {
    const rateLimiter = new RateLimiter(oneAMinute);
    const { mock, v1 } = mockedClient({}, { rateLimiter });
    // This holds for a process of any age.
    await vi.advanceTimersByTimeAsync(3_600_000);
    await v1.customers.list();
    const startedAt = performance.now();

    const error = await failureOf(v1.customers.upsert(contact, { deadlineMs: 5_000 }));

    expect(performance.now()).toBe(startedAt);
    expect(error).toBeInstanceOf(RateLimitWaitError);
    expect(error).toMatchObject({
      outcome: "not-sent",
      window: { limit: 1, intervalMs: 60_000 },
      request: { attempts: 0 },
    });
    expect((error as RateLimitWaitError).waitMs).toBeGreaterThan(59_000);
    expect((error as RateLimitWaitError).retryAt.getTime()).toBeGreaterThan(Date.now() + 59_000);
    expect(mock.requests).toHaveLength(1);
    expect(rateLimiter.usage().queued).toBe(0);
  });

  it.each<[string, MockServiceOptions, ClientOptions, isBehind: boolean]>([
    ["behind an earlier write to the same contact", { faults: [{ ...hang, times: 1 }] }, {}, true],
    ["in the key function", {}, { apiKey: noKey }, false],
  ])("that passes %s is a TimeoutError: nothing was sent", async (_, ofMock, ofClient, isBehind) => {
    const { mock, audience } = mockedClient(ofMock, { timeoutMs: 10_000, ...ofClient });
    const first = isBehind && audience.v1.customers.upsert(contact);

    const error = await late(audience, 3_000);

    expect(error).toMatchObject({ code: "timeout", timeoutMs: 3_000, outcome: "not-sent" });
    expect(error.request).toMatchObject({ attempts: 0 });
    await first;
    expect(mock.requests).toHaveLength(isBehind ? 2 : 0);
  });

  it("defaults to that of the client, and leaves no timer behind", async () => {
    const { v1 } = mockedClient({ faults: [{ ...hang, after: 1 }] }, { deadlineMs: 500 });

    await v1.customers.upsert(contact);
    expect(vi.getTimerCount()).toBe(0);
    const error = await within(500, failureOf(v1.customers.upsert(contact)));

    expect(error).toMatchObject({ code: "timeout", timeoutMs: 500 });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([
    [{ kind: "500-before" }, "server", "unknown"],
    [{ kind: "429", retryAfter: false }, "rate_limit", "not-applied"],
  ] as const)(
    "that a backoff would pass is a TimeoutError at once, with the failure as its cause: %o",
    async (fault, code, outcome) => {
      const { mock, v1 } = mockedClient({ faults: [fault] });

      const error = await failureOf(v1.customers.upsert(contact, { deadlineMs: 100 }));

      const message = "The call's next attempt would begin after its deadline of 100 ms.";
      expect(error).toMatchObject({ code: "timeout", message, timeoutMs: 100, outcome, cause: { code } });
      expect(error.request?.attempts).toBe(1);
      expect(mock.requests).toHaveLength(1);
    },
  );

  it("that passes before the call asks for its permit, as the event loop is busy, is no ConfigurationError", async () => {
    vi.useRealTimers();
    const rateLimiter = new RateLimiter(oneAMinute);
    const { mock, v1 } = mockedClient({}, { rateLimiter });
    const first = v1.customers.upsert(contact);
    // The second write waits for the first one to the same contact; the deadline's timer cannot run before it asks for its permit.
    const failure = failureOf(v1.customers.upsert(contact, { deadlineMs: 5 }));
    blockFor(30);

    await first;
    const { code, outcome } = await failure;

    expect(["rate_limit_wait", "timeout"]).toContain(code);
    expect(outcome).toBe("not-sent");
    expect(mock.requests).toHaveLength(1);
  });
});

const options = { apiKey: "k", rateLimiter: false, maxRetries: 0 } as const;
const profile = (length: number) => JSON.stringify({ ...profileResponse, note: "x".repeat(length) });

/** Calls back once Node has sent a request with its body. */
function onceSent(callback: () => void): void {
  const channel = "undici:request:bodySent";
  const listener = () => {
    unsubscribe(channel, listener);
    setImmediate(callback);
  };
  subscribe(channel, listener);
}

describe("A response that arrived while the event loop was blocked counts, although the time has passed", () => {
  it.each([
    ["timeoutMs", "a small body", profile(0), {}],
    ["timeoutMs", "a body of 100 kB", profile(100_000), {}],
    ["timeoutMs", "a compressed body", gzipSync(profile(100_000)), { "content-encoding": "gzip" }],
    ["deadlineMs", "a small body", profile(0), {}],
  ])("of %s, with %s", async (option, _, body, headers) => {
    const server = await serveInThread(body, headers);
    const { v1 } = new AudienceClient({ ...options, baseUrl: server.url });
    onceSent(() => server.blockUntilAnswered(1_200));

    const { data, attempts } = await v1.customers.upsert(contact, { [option]: 1_000 }).withResponse();

    expect([data.id, attempts]).toEqual(["c-1", 1]);
  });

  it("for a key function", async () => {
    const server = await serveInThread("key-from-a-vault");
    const mock = createMockService();
    const keys: (string | null)[] = [];
    const { v1 } = new AudienceClient({
      ...options,
      baseUrl: "https://api.test",
      apiKey: async () => (await fetch(server.url, { method: "POST", body: "{}" })).text(),
      fetch: async (url, init) => {
        keys.push(new Headers(init.headers).get("x-api-key"));
        return await mock.fetch(url, {
          ...init,
          headers: { ...init.headers, "x-api-key": mock.clientOptions.apiKey },
        });
      },
    });
    onceSent(() => server.blockUntilAnswered(1_200));

    await v1.customers.upsert(contact, { timeoutMs: 1_000 });

    expect(keys).toEqual(["key-from-a-vault"]);
  });
});

const respondingAfter = (ms: number) => (): Promise<Response> =>
  new Promise((resolve) => setTimeout(() => resolve(Response.json(profileResponse)), ms));

// Timers of one moment run in the order in which they were set, and all of them before what has arrived is read.
it.each(["timeoutMs", "deadlineMs"])("A response that arrives as %s has passed counts", async (option) => {
  vi.useFakeTimers();
  const { v1 } = mockedClient({}, { maxRetries: 0, fetch: respondingAfter(1_000) });

  const { id } = await within(2_000, v1.customers.upsert(contact, { [option]: 1_000 }));

  expect(id).toBe("c-1");
});

it.each(["timeoutMs", "deadlineMs"])(
  "%s is kept where its timer fires some milliseconds late, as on a busy machine",
  async (option) => {
    vi.useFakeTimers();
    const { v1 } = mockedClient({}, { maxRetries: 0, fetch: respondingAfter(1_050) });
    const failure = failureOf(v1.customers.upsert(contact, { [option]: 1_000 }));
    await vi.advanceTimersByTimeAsync(990);
    const punctual = performance.now.bind(performance);
    vi.spyOn(performance, "now").mockImplementation(() => punctual() + 5);
    await vi.advanceTimersByTimeAsync(45);

    expect(await within(1, failure)).toMatchObject({ code: "timeout", outcome: "unknown" });
  },
);

it("Without a response a late timer ends the call all the same", async () => {
  const { mock, v1 } = mockedClient({ faults: [hang] }, { maxRetries: 0, timeoutMs: 50 });

  const failure = failureOf(v1.customers.upsert(contact));
  setImmediate(() => blockFor(100));

  expect(await failure).toMatchObject({ code: "timeout" });
  expect(mock.requests).toHaveLength(1);
});

it.each([
  ["with a limiter", { rateLimiter: { windows: [{ limit: 10, intervalMs: 1_000 }] } }],
  ["without one", { rateLimiter: false }],
] as const)(
  "Nothing is sent after a deadline that passed while the event loop was blocked, %s",
  async (_, more) => {
    const mock = createMockService();
    const apiKey = () => {
      blockFor(100);
      return mock.clientOptions.apiKey;
    };
    const { v1 } = new AudienceClient({ ...mock.clientOptions, ...more, apiKey });

    const error = await failureOf(v1.customers.upsert(contact, { deadlineMs: 50 }));

    expect(error).toMatchObject({ code: "timeout", outcome: "not-sent", request: { attempts: 0 } });
    expect(error.message).toBe("The call did not end within its deadline of 50 ms.");
    expect(mock.requests).toEqual([]);
  },
);
