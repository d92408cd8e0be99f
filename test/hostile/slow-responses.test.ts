import { AudienceClient } from "audience-sdk";
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

    const errors = await Promise.all([
      failureOf(audience.v1.customers.get("c-1", { maxRetries: 0 })),
      failureOf(audience.v1.customers.upsert({ email: "ada@example.com" })),
    ]);

    expect(errors).toMatchObject([
      { code: "timeout", timeoutMs: 200, outcome: "not-applied" },
      { code: "timeout", timeoutMs: 200, outcome: "unknown", request: { attempts: 1 } },
    ]);
    await server.allClosed();
    // Fewer on a machine so busy that the timeout passed before.
    expect(server.requests.length).toBeLessThanOrEqual(2);
  });

  it("is aborted at deadlineMs, whatever retries remain", async () => {
    const server = await serveRaw(dripping(`${ok}\r\n`, " "));
    const audience = new AudienceClient({ baseUrl: server.url, apiKey, rateLimiter: false, deadlineMs: 200 });

    const error = await failureOf(audience.v1.customers.upsert({ email: "ada@example.com" }));

    expect(error).toMatchObject({ code: "timeout", timeoutMs: 200, outcome: "unknown" });
    expect(server.requests.length).toBeLessThanOrEqual(1);
  });
});
