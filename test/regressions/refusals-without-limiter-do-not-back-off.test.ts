import { AudienceClient } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { expect, it, vi } from "vitest";
import { failureOf } from "../transport/failure.ts";

it.each([
  ["names no wait", false],
  ["names a wait of 0", 0],
] as const)("Without a limiter, the waits after 429s grow if the response %s", async (_, retryAfter) => {
  vi.useFakeTimers();
  try {
    const mock = createMockService({ faults: [{ kind: "429", retryAfter }] });
    const waits: number[] = [];
    const hooks = { onRetry: ({ waitMs = 0 }) => void waits.push(waitMs) };
    const audience = new AudienceClient({ ...mock.clientOptions, hooks });

    const failure = failureOf(audience.v1.customers.list());
    await vi.advanceTimersByTimeAsync(60_000);
    await failure;

    expect(waits).toHaveLength(4);
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(250);
    expect(waits[3]).toBeGreaterThanOrEqual(2_000);
  } finally {
    vi.useRealTimers();
  }
});
