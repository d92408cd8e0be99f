import { AudienceClient, RateLimitWaitError } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { expect, it, vi } from "vitest";
import { offline } from "../fuzz/offline-client.ts";
import { failureOf } from "./failure.ts";

const clientFor = (body: string, headers: Record<string, string> = {}) =>
  new AudienceClient({ ...offline, fetch: async () => new Response(body, { status: 400, headers }) });

it("An ApiError as JSON holds the response's headers", async () => {
  const error = await failureOf(clientFor("{}", { "x-trace": "t-1" }).v1.customers.get("c-1"));

  expect(JSON.parse(JSON.stringify(error))).toMatchObject({ headers: { "x-trace": "t-1" } });
});

it("A body that is nested too deeply for JSON.stringify is shown as a string", async () => {
  const body = "[".repeat(30_000) + "]".repeat(30_000);

  const error = await failureOf(clientFor(body).v1.customers.get("c-1"));

  expect(error).toMatchObject({ body });
  expect(() => JSON.stringify(error)).not.toThrow();
});

it("A limiter of another copy of the package ends a call with outcome and request", async () => {
  vi.resetModules();
  const { RateLimiter } = await import("../../src/rate-limiter/rate-limiter.ts");
  const mock = createMockService();
  const rateLimiter = new RateLimiter({ windows: [{ limit: 1, intervalMs: 60_000 }], maxWaitMs: 100 });
  const audience = new AudienceClient({ ...mock.clientOptions, rateLimiter });
  await audience.v1.events.send({ eventName: "first", contact: { email: "ada@example.com" } });

  const error: unknown = await audience.v1.events
    .send({ eventName: "second", uniqueIdentifier: "u-2", contact: { email: "ada@example.com" } })
    .catch((reason: unknown) => reason);

  expect(error).toBeInstanceOf(RateLimitWaitError);
  expect(error).toMatchObject({
    name: "RateLimitWaitError",
    waitMs: expect.closeTo(60_035, -3) as number, // Safe: a matcher in the place of a number
    window: { limit: 1, intervalMs: 60_000 },
    outcome: "not-sent",
    uniqueIdentifier: "u-2",
    request: { operation: "v1.events.send", attempts: 0 },
  });
});
