import { once } from "node:events";
import { createServer } from "node:net";
import { AudienceClient } from "audience-sdk";
import { describe, expect, it, onTestFinished } from "vitest";
import { failureOf } from "../transport/failure.ts";

const contact = { email: "ada@example.com" };

/** The errors of Node's sockets. */
function socketError(code: string, syscall: string | undefined): TypeError {
  const error = new Error(`${syscall} ${code}`);
  return new TypeError("fetch failed", {
    cause: Object.assign(error, { code, ...(syscall && { syscall }) }),
  });
}

describe("Only a connection that was never established has the outcome not-sent", () => {
  it.each([
    ["EHOSTUNREACH", "connect", "not-sent"],
    ["EHOSTUNREACH", "read", "unknown"],
    ["ENETUNREACH", "connect", "not-sent"],
    ["ENETUNREACH", "write", "unknown"],
    ["EADDRNOTAVAIL", "connect", "not-sent"],
    ["EADDRNOTAVAIL", undefined, "unknown"],
    ["ETIMEDOUT", "connect", "not-sent"],
    ["ETIMEDOUT", "read", "unknown"],
    ["ECONNRESET", "connect", "not-sent"],
    ["ECONNRESET", "read", "unknown"],
    ["ENODATA", "getaddrinfo", "not-sent"],
    ["ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC", undefined, "unknown"],
  ])("%s on %s: %s", async (code, syscall, outcome) => {
    const fetch = async () => Promise.reject(socketError(code, syscall));
    const options = { baseUrl: "https://api.example.com", apiKey: "k", rateLimiter: false, fetch } as const;

    const error = await failureOf(
      new AudienceClient(options).v1.customers.upsert(contact, { maxRetries: 0 }),
    );

    expect(error).toMatchObject({ code: "connection", outcome });
  });

  it("a connection that ends during the TLS handshake", async () => {
    const server = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await once(server, "listening");
    const { port } = server.address() as { port: number };
    const options = { baseUrl: `https://127.0.0.1:${port}`, apiKey: "k", rateLimiter: false } as const;

    const error = await failureOf(
      new AudienceClient(options).v1.customers.upsert(contact, { maxRetries: 0 }),
    );

    expect(error).toMatchObject({ code: "connection", reason: "reset", outcome: "not-sent" });
  });
});
