import { AudienceClient, RateLimitWaitError } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { expect, it, vi } from "vitest";

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
