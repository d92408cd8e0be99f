import { AudienceClient, RateLimiter } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { expect, it, vi } from "vitest";
import { failureOf } from "../transport/failure.ts";

// A server that rounds its wait down says 0: the limiter has no pause to wait for.
it.each([
  ["Retry-After: 0", { kind: "429", retryAfter: 0 }],
  ["a date that is past", { kind: "429", retryAfter: new Date(0) }],
] as const)("With a limiter, the waits after 429s with %s grow", async (_, fault) => {
  vi.useFakeTimers();
  try {
    const mock = createMockService({ faults: [fault] });
    const waits: number[] = [];
    const hooks = { onRetry: ({ waitMs = 0 }) => void waits.push(waitMs) };
    const rateLimiter = new RateLimiter();
    const audience = new AudienceClient({ ...mock.clientOptions, rateLimiter, hooks });

    const failure = failureOf(audience.v1.customers.list());
    await vi.advanceTimersByTimeAsync(60_000);
    await failure;

    const arrivals = mock.requests.map(({ arrivedAtMs }) => arrivedAtMs);
    const gaps = arrivals.slice(1).map((arrivedAt, before) => arrivedAt - arrivals[before]!);
    expect(gaps).toHaveLength(4);
    for (const [retry, gap] of gaps.entries()) {
      expect(gap).toBeGreaterThanOrEqual(250 * 2 ** retry - 1);
      expect(Math.abs(gap - waits[retry]!)).toBeLessThanOrEqual(2);
    }
  } finally {
    vi.useRealTimers();
  }
});
