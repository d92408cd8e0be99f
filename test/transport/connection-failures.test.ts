import { AudienceClient, RateLimiter, type ClientOptions } from "audience-sdk";
import { describe, expect, it } from "vitest";
import { failureOf } from "./failure.ts";

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
});

it.each([
  ["returns its permit if nothing was sent", "ECONNREFUSED", 0],
  ["uses up its permit if something may have been sent", "ECONNRESET", 1],
])("A connection that fails %s", async (_, code, used) => {
  const rateLimiter = new RateLimiter({ windows: [{ limit: 10, intervalMs: 60_000 }] });

  await failing(wrapped({ code }), { rateLimiter });

  expect(rateLimiter.usage()).toMatchObject({ inFlight: 0, windows: [{ used }] });
});
