import { AudienceClient, RateLimiter, type ServerError } from "audience-sdk";
import { beforeAll, describe, expect, it } from "vitest";
import { failureOf } from "../transport/failure.ts";
import { refusedUrl } from "../transport/fixture.ts";
import { drip, type RawResponse, serveRaw } from "./raw-server.ts";

const ok = "HTTP/1.1 200 OK\r\n";
const apiKey = "test-key-0123456789";

describe("A server that keeps sending and never completes", () => {
  const drips: readonly (readonly [string, begin: string, piece: string])[] = [
    ["in a header", `${ok}X-A: `, "a"],
    ["in header after header", ok, "x-a: b\r\n"],
    ["in its body", `${ok}\r\n`, " "],
    ["in chunk after chunk", `${ok}Transfer-Encoding: chunked\r\n\r\n`, "1\r\n \r\n"],
    ["in endless responses of 102", "", "HTTP/1.1 102 Processing\r\n\r\n"],
  ];
  const dripping =
    (begin: string, piece: string): RawResponse =>
    (socket) => {
      socket.write(begin);
      drip(socket, piece, 20);
    };

  // The first call of a process loads modules of the runtime, and its timeout includes that time.
  beforeAll(async () => {
    await failureOf(
      new AudienceClient({ baseUrl: await refusedUrl(), apiKey, maxRetries: 0 }).v1.customers.get("c"),
    );
  });

  it.each(drips)("%s is aborted at timeoutMs", async (_, begin, piece) => {
    const server = await serveRaw(dripping(begin, piece));
    const audience = new AudienceClient({ baseUrl: server.url, apiKey, rateLimiter: false, timeoutMs: 200 });
    const startedAt = performance.now();

    const errors = await Promise.all([
      failureOf(audience.v1.customers.get("c-1", { maxRetries: 0 })),
      failureOf(audience.v1.customers.upsert({ email: "ada@example.com" })),
    ]);

    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(199);
    expect(performance.now() - startedAt).toBeLessThan(20_000);
    expect(errors).toMatchObject([
      { code: "timeout", timeoutMs: 200, outcome: "not-applied" },
      { code: "timeout", timeoutMs: 200, outcome: "unknown", request: { attempts: 1 } },
    ]);
    await server.allClosed();
    // Fewer on a machine so busy that the timeout passed before.
    expect(server.requests.length).toBeLessThanOrEqual(2);
  });

  it.each(drips)("%s is aborted at deadlineMs, whatever retries remain", async (_, begin, piece) => {
    const server = await serveRaw(dripping(begin, piece));
    const audience = new AudienceClient({ baseUrl: server.url, apiKey, rateLimiter: false, deadlineMs: 200 });

    const error = await failureOf(audience.v1.customers.upsert({ email: "ada@example.com" }));

    expect(error).toMatchObject({ code: "timeout", timeoutMs: 200, outcome: "unknown" });
    expect(server.requests.length).toBeLessThanOrEqual(1);
  });
});

describe("A server that always fails", () => {
  const failing = (status: number) => (socket: Parameters<RawResponse>[0]) =>
    void socket.write(`HTTP/1.1 ${status} Odd\r\nRetry-After: 0\r\nContent-Length: 2\r\n\r\n{}`);

  it("with 500 and Retry-After 0 gets maxRetries retries after the client's own backoff", async () => {
    const server = await serveRaw(failing(500));
    const waits: number[] = [];
    const hooks = { onRetry: ({ waitMs = -1 }) => void waits.push(waitMs) };
    const options = { baseUrl: server.url, apiKey, rateLimiter: false, hooks, maxRetries: 1 } as const;

    const error = await failureOf(new AudienceClient(options).v1.customers.get("c-1"));

    expect(error).toMatchObject({ code: "server", retryAfterMs: 0, request: { attempts: 2 } });
    expect(server.requests).toHaveLength(2);
    expect(waits).toHaveLength(1);
    expect(waits[0]).toBeGreaterThanOrEqual(250);
  });

  it("with 429 gets maxRetries retries, each within the rate limit", async () => {
    const server = await serveRaw(failing(429));
    const rateLimiter = new RateLimiter({ windows: [{ limit: 10, intervalMs: 60_000 }] });
    const audience = new AudienceClient({ baseUrl: server.url, apiKey, rateLimiter, maxRetries: 3 });

    const error = await failureOf(audience.v1.customers.upsert({ email: "ada@example.com" }));

    expect(error).toMatchObject({ code: "rate_limit", outcome: "not-applied", request: { attempts: 4 } });
    expect(server.requests).toHaveLength(4);
    expect(rateLimiter.usage().windows[0]?.used).toBe(4);
  });

  it("with 401 and a key function that always returns another key gets two requests", async () => {
    const server = await serveRaw(failing(401));
    let keyCalls = 0;
    const audience = new AudienceClient({
      baseUrl: server.url,
      apiKey: () => `test-key-${keyCalls++}-0123456789`,
      rateLimiter: false,
    });

    expect(await failureOf(audience.v1.customers.get("c-1"))).toMatchObject({ code: "authentication" });
    expect(server.requests).toHaveLength(2);
  });
});

describe("Retry-After", () => {
  const date = "Sat, 21 Nov 2026 12:00:00 GMT";

  it.each([
    ["1e309", Number.MAX_SAFE_INTEGER],
    ["9".repeat(400), Number.MAX_SAFE_INTEGER],
    ["Fri, 31 Dec 9999 23:59:59 GMT", Date.UTC(9999, 11, 31, 23, 59, 59) - Date.parse(date)],
    ["Sat, 21 Nov 1970 12:00:00 GMT", 0],
    ["0", 0],
    ["-5", undefined],
    ["Infinity", undefined],
    ["-Infinity", undefined],
    ["NaN", undefined],
    ["0x7fffffff", undefined],
    ["1,2", 2_000],
    ["Tue, 13 Sep 275760 00:00:01 GMT", undefined],
    ["Fri, 01 Jan 275761 00:00:00 GMT", undefined],
    ["+275761-01-01T00:00:00Z", undefined],
    ["\u00b2", undefined],
  ])("of %s means a wait of %s ms", async (retryAfter, expected) => {
    const headers = `Date: ${date}\r\nRetry-After: ${retryAfter}\r\nContent-Length: 2\r\n`;
    const server = await serveRaw(
      (socket) => void socket.write(`HTTP/1.1 503 Odd\r\n${headers}\r\n{}`, "latin1"),
    );
    const audience = new AudienceClient({ baseUrl: server.url, apiKey, rateLimiter: false, maxRetries: 0 });

    const error = await failureOf(audience.v1.customers.get("c-1"));

    expect((error as ServerError).retryAfterMs).toBe(expected);
  });
});
