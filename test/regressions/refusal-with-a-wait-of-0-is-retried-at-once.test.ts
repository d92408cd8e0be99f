import { AudienceClient, DOCUMENTED_WINDOWS } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { expect, it, vi } from "vitest";
import { failureOf } from "../transport/failure.ts";

it("With a limiter, the waits after 429s grow if the response names a wait of 0", async () => {
  vi.useFakeTimers();
  try {
    const mock = createMockService({ faults: [{ kind: "429", retryAfter: 0 }] });
    const waits: number[] = [];
    const hooks = { onRetry: ({ waitMs = 0 }) => void waits.push(waitMs) };
    const rateLimiter = { windows: DOCUMENTED_WINDOWS };
    const audience = new AudienceClient({ ...mock.clientOptions, rateLimiter, hooks });
    const startedAt = performance.now();

    const failure = failureOf(audience.v1.customers.list());
    await vi.runAllTimersAsync();
    await failure;

    expect(mock.requests.map(({ status }) => status)).toEqual([429, 429, 429, 429, 429]);
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(250);
    expect(waits[3]).toBeGreaterThanOrEqual(2_000);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(waits.reduce((sum, waitMs) => sum + waitMs));
  } finally {
    vi.useRealTimers();
  }
});
