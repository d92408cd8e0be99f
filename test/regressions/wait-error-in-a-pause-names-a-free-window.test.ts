import { AudienceClient, RateLimiter, type RateLimitWaitError } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { expect, it } from "vitest";
import { failureOf } from "../transport/failure.ts";

const windows = [{ limit: 2, intervalMs: 60_000 }];

it.each([
  ["names no window if none is full", 1, undefined],
  ["names the window that is full", 2, windows[0]],
])("While a 429 pauses the limiter, the error for a wait %s", async (_, calls, window) => {
  const mock = createMockService({ faults: [{ kind: "429", retryAfter: 5, after: calls - 1 }] });
  const rateLimiter = new RateLimiter({ windows });
  const audience = new AudienceClient({ ...mock.clientOptions, rateLimiter, maxRetries: 0 });
  for (let call = 1; call < calls; call += 1) await audience.v2.lists.list();
  await failureOf(audience.v2.lists.list());

  const error = (await failureOf(audience.v2.lists.list({}, { maxWaitMs: 10 }))) as RateLimitWaitError;

  expect(error.code).toBe("rate_limit_wait");
  expect(error.window).toEqual(window);
});
