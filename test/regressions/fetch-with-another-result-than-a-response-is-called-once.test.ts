import { Readable } from "node:stream";
import { AudienceClient, ConfigurationError, ConnectionError, RateLimiter, ServerError } from "audience-sdk";
import { expect, it, vi } from "vitest";
import { offline } from "../fuzz/offline-client.ts";
import { failureOf } from "../transport/failure.ts";

const withStatus = (status: unknown) => ({ status, headers: new Headers(), body: null });

it.each([
  ["undefined", undefined],
  ["an empty object", {}],
  ["an object without headers", { status: 200 }],
  ["a status that is no number", withStatus("200")],
  ["a body that is a stream of Node", { ...withStatus(200), body: Readable.from(["{}"]) }],
])(
  "A fetch that returns no Response but %s is a ConfigurationError, and is called once",
  async (_, given) => {
    const fetch = vi.fn(async () => given as Response);
    const audience = new AudienceClient({ ...offline, fetch, maxRetries: 4 });

    const failures = [
      await failureOf(
        audience.v1.events.send({ eventName: "signed_up", contact: { email: "ada@example.com" } }),
      ),
      await failureOf(audience.v1.customers.get("contact-1")),
    ];

    expect(fetch).toHaveBeenCalledTimes(2);
    for (const failure of failures) expect(failure).toBeInstanceOf(ConfigurationError);
    expect(failures).toMatchObject([
      // Whatever the function did, the write may have been sent.
      { message: "The fetch option must return a Response whose body is a web stream.", outcome: "unknown" },
      { request: { attempts: 1 }, outcome: "not-applied" },
    ]);
  },
);

it("A fetch that has read the body of its Response is a ConfigurationError, and is called once", async () => {
  const fetch = vi.fn(async () => {
    const response = Response.json({ message: "ok" });
    await response.text();
    return response;
  });
  const audience = new AudienceClient({ ...offline, fetch, maxRetries: 4 });

  const failure = await failureOf(audience.v1.customers.upsert({ email: "ada@example.com" }));

  expect(fetch).toHaveBeenCalledTimes(1);
  expect(failure).toBeInstanceOf(ConfigurationError);
  expect(failure).toMatchObject({ message: expect.stringContaining("clone()"), outcome: "unknown" });
});

it("A fetch that throws an error of this package, for example through another client, releases its permit", async () => {
  const rateLimiter = new RateLimiter({ windows: [{ limit: 1, intervalMs: 20 }] });
  const inner = new AudienceClient({ ...offline, fetch: async () => new Response("", { status: 500 }) });
  const fetch = async () => {
    await inner.v1.customers.get("contact-1");
    return new Response();
  };
  const audience = new AudienceClient({ ...offline, fetch, rateLimiter });

  const failure: unknown = await audience.v1.customers.get("contact-1").catch((error: unknown) => error);

  expect(failure).toBeInstanceOf(ConnectionError);
  expect(failure).not.toBeInstanceOf(ServerError);
  expect(rateLimiter.usage().inFlight).toBe(0);
});
