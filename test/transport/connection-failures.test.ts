import { once } from "node:events";
import { createServer } from "node:net";
import { AudienceClient, type ClientOptions, ConnectionError, RateLimiter } from "audience-sdk";
import { describe, expect, it, onTestFinished } from "vitest";
import { failureOf } from "./failure.ts";
import { json, profileResponse, refusedUrl, serve } from "./fixture.ts";

const contact = { email: "ada@example.com", email_opt_in: "SUBSCRIBED" } as const;

/** The error of a write whose fetch rejects with `thrown`. */
function failing(thrown: unknown, options: ClientOptions = {}) {
  const audience = new AudienceClient({
    baseUrl: "https://api.example.com/tenant",
    apiKey: "k",
    rateLimiter: false,
    maxRetries: 0,
    fetch: async () => Promise.reject(thrown),
    ...options,
  });
  return failureOf(audience.v1.customers.upsert(contact));
}

/** The wrapper of undici. */
const wrapped = (facts: object, message = "connect failed") =>
  new TypeError("fetch failed", { cause: Object.assign(new Error(message), facts) });

describe("The message of a failed connection names the origin, the reason, and whether anything was sent", () => {
  const none = (reason: string) =>
    `No connection to https://api.example.com could be made${reason}; this attempt sent nothing.`;
  const broken = (reason: string) =>
    `The connection to https://api.example.com failed before the complete response was received${reason}.`;

  it.each([
    ["a code that is known", wrapped({ code: "ECONNREFUSED" }), none(" (ECONNREFUSED)")],
    ["one that is not", wrapped({ code: "EWHATEVER" }), broken(" (EWHATEVER)")],
    ["one that is no text", wrapped({ code: 7 }), broken("")],
    ["no code", new TypeError("fetch failed"), broken("")],
    ["no code, but a system call", wrapped({ syscall: "connect" }), none("")],
    ["only words", new TypeError("tcp connect error: Connection refused"), none("")],
    ["no error", "a text", broken("")],
    [
      "a proxy that refuses the connection",
      new TypeError("fetch failed", {
        cause: new Error("Request was cancelled.", {
          cause: Object.assign(new Error("Proxy response (407) !== 200 when HTTP Tunneling"), {
            code: "UND_ERR_ABORTED",
          }),
        }),
      }),
      none(" (the proxy responded 407)"),
    ],
    ["no HTTP", wrapped({ code: "HPE_INVALID_CONSTANT" }), broken(" (HPE_INVALID_CONSTANT)")],
  ])("%s", async (_, thrown, message) => {
    const error = await failing(thrown);

    expect(error.message).toBe(message);
    expect(error.outcome).toBe(message.endsWith("this attempt sent nothing.") ? "not-sent" : "unknown");
  });
});

describe("Its cause", () => {
  it("holds only the messages of the runtime's error and of its causes", async () => {
    const { cause } = await failing(wrapped({ request: { body: contact } }, "other side closed"));

    const words = "fetch failed: other side closed";
    expect(cause).toMatchObject({ name: "TypeError", message: words, stack: `TypeError: ${words}` });
    expect(cause).not.toHaveProperty("cause");
  });

  it("is undefined if no error was thrown", async () => {
    expect(await failing({ name: "TypeError", message: "no error" })).not.toHaveProperty("cause");
  });

  it("says that no reason was given if a body broke off without one", async () => {
    const body = new ReadableStream({ start: (controller) => controller.error() });

    const error = await failing(undefined, {
      // A key of one letter would be redacted from the reason.
      apiKey: "test-key-0123456789",
      fetch: async () => new Response(body, { status: 200 }),
    });

    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({
      outcome: "unknown",
      cause: { message: "the body broke off: no reason was given" },
    });
  });

  it("names the port if fetch blocks it, and nothing was sent", async () => {
    // Port 6000 is reserved for X11: the real fetch refuses it, and connects to nothing.
    const error = await failing(undefined, { baseUrl: "http://127.0.0.1:6000", fetch: undefined });

    expect(error).toMatchObject({
      code: "connection",
      outcome: "not-sent",
      message: "No connection to http://127.0.0.1:6000 could be made; this attempt sent nothing.",
      cause: { message: expect.stringContaining("bad port") as string },
      request: { attempts: 1 },
    });
  });
});

it.each([
  ["returns its permit if nothing was sent", "ECONNREFUSED", 0],
  ["uses up its permit if something may have been sent", "ECONNRESET", 1],
])("A connection that fails %s", async (_, code, used) => {
  const rateLimiter = new RateLimiter({ windows: [{ limit: 10, intervalMs: 60_000 }] });

  await failing(wrapped({ code }), { rateLimiter });

  expect(rateLimiter.usage()).toMatchObject({ inFlight: 0, windows: [{ used }] });
});

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
    const error = await failing(wrapped({ code, ...(syscall && { syscall }) }, `${syscall} ${code}`));

    expect(error).toMatchObject({ code: "connection", outcome });
  });

  it("one that ends during the TLS handshake", async () => {
    const server = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await once(server, "listening");
    const { port } = server.address() as { port: number };

    const error = await failing(undefined, { baseUrl: `https://127.0.0.1:${port}`, fetch: undefined });

    expect(error).toMatchObject({ code: "connection", reason: "reset", outcome: "not-sent" });
  });

  it.each(["ECONNREFUSED", "EPROTO", "ENOTFOUND"])(
    "not one that broke off in the body with %s, and an unrepeatable write is not sent again",
    async (code) => {
      let sent = 0;
      const fetch = async () => {
        sent += 1;
        const body = new ReadableStream({
          pull: (controller) => controller.error(Object.assign(new Error("broken"), { code })),
        });
        return new Response(body, { status: 201 });
      };
      const { v1 } = new AudienceClient({
        baseUrl: "https://api.example.com",
        apiKey: "k",
        rateLimiter: false,
        fetch,
      });

      const error = await failureOf(v1.customers.upsert({ ...contact, double_opt_in: true }));

      expect(error).toMatchObject({ code: "connection", outcome: "unknown" });
      expect(sent).toBe(1);
    },
  );
});

describe("A connection that fails", () => {
  it("refused: nothing was sent", async () => {
    const baseUrl = await refusedUrl();

    const error = await failureOf(
      new AudienceClient({ baseUrl, apiKey: "k", rateLimiter: false, maxRetries: 0 }).v1.customers.upsert(
        contact,
      ),
    );

    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({
      name: "ConnectionError",
      code: "connection",
      reason: "refused",
      outcome: "not-sent",
      request: { attempts: 1 },
    });
    expect(error.message).toBe(
      `No connection to ${baseUrl} could be made (ECONNREFUSED); this attempt sent nothing.`,
    );
  });

  it("reset: it may have been applied", async () => {
    const { options } = await serve((outgoing) => void outgoing.socket?.destroy());

    const error = await failureOf(
      new AudienceClient({ ...options, maxRetries: 0 }).v1.customers.upsert(contact),
    );

    expect(error).toMatchObject({ code: "connection", reason: "reset", outcome: "unknown" });
  });

  it("in the body of a 2xx: it may have been applied, and is sent again if that is safe", async () => {
    const { options, received } = await serve((outgoing, _, count) => {
      if (count > 1) return json(outgoing, 200, profileResponse);
      outgoing.writeHead(200, { "content-length": "1000" }).write('{"data":');
      setTimeout(() => outgoing.destroy(), 20);
    });

    const profile = await new AudienceClient(options).v1.customers.upsert(contact);

    expect(profile.id).toBe("c-1");
    expect(received).toHaveLength(2);
  });

  it("TLS: nothing was sent, and nothing is tried again", async () => {
    const { url, received } = await serve((outgoing) => json(outgoing, 200, profileResponse));
    const baseUrl = url.replace("http:", "https:");

    const error = await failureOf(
      new AudienceClient({ baseUrl, apiKey: "k", rateLimiter: false }).v1.customers.upsert(contact),
    );

    expect(error).toMatchObject({
      code: "connection",
      reason: "tls",
      outcome: "not-sent",
      request: { attempts: 1 },
    });
    expect(received).toEqual([]);
  });

  const withCode = (code: string) =>
    new TypeError("fetch failed", { cause: Object.assign(new Error(code), { code }) });
  const several = Object.assign(new AggregateError([withCode("ECONNREFUSED"), withCode("ECONNREFUSED")]), {});

  it.each([
    ["Node's resolver", withCode("ENOTFOUND"), "dns", "not-sent"],
    ["Node's resolver, for now", withCode("EAI_AGAIN"), "dns", "not-sent"],
    ["a connect that takes too long", withCode("UND_ERR_CONNECT_TIMEOUT"), "other", "not-sent"],
    ["several addresses", new TypeError("fetch failed", { cause: several }), "refused", "not-sent"],
    ["a certificate", withCode("DEPTH_ZERO_SELF_SIGNED_CERT"), "tls", "not-sent"],
    ["a certificate's name", withCode("ERR_TLS_CERT_ALTNAME_INVALID"), "tls", "not-sent"],
    ["a broken pipe", withCode("EPIPE"), "reset", "unknown"],
    ["undici's socket", withCode("UND_ERR_SOCKET"), "reset", "unknown"],
    [
      "Bun, refused",
      Object.assign(new Error("Unable to connect"), { code: "ConnectionRefused" }),
      "refused",
      "not-sent",
    ],
    ["Bun, reset", Object.assign(new TypeError("closed"), { code: "ConnectionClosed" }), "reset", "unknown"],
    [
      "Deno, refused",
      new TypeError("client error (Connect): tcp connect error: Connection refused (os error 111)"),
      "refused",
      "not-sent",
    ],
    [
      "Deno, no address",
      new TypeError("client error (Connect): dns error: failed to lookup address information"),
      "dns",
      "not-sent",
    ],
    ["a failure without details", new TypeError("fetch failed"), "other", "unknown"],
    [
      "an error that is its own cause",
      Object.assign(new Error("ring"), {
        get cause() {
          return this;
        },
      }),
      "other",
      "unknown",
    ],
    [
      "an error whose code is a number",
      Object.assign(new TypeError("fetch failed"), { code: 7 }),
      "other",
      "unknown",
    ],
    ["no error at all", "a text", "other", "unknown"],
    ["a name of Object's", withCode("constructor"), "other", "unknown"],
  ])("as %s reports it", async (_, thrown, reason, outcome) => {
    const error = await failing(thrown);

    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ code: "connection", reason, outcome });
  });

  it("because the `fetch` option throws at once", async () => {
    const fetch = () => {
      throw new Error("broken fetch");
    };

    const error = await failing(undefined, { fetch });

    expect(error).toMatchObject({ code: "connection", reason: "other", outcome: "unknown" });
  });
});
