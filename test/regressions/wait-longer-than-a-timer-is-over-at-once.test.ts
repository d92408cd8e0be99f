import { AudienceClient } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const dayMs = 24 * 3_600_000;

// A timer holds 24.8 days at most, and fires at once where it is asked for more.
it("A row that is asked to stay away for 40 days stays away for 40 days", async () => {
  const mock = createMockService({ faults: [{ kind: "429", retryAfter: 40 * 24 * 3_600, times: 1 }] });
  const audience = new AudienceClient(mock.clientOptions);
  const rows = [{ email: "ada@example.com", email_opt_in: "SUBSCRIBED" } as const];

  const summary = audience.bulk(rows, (row, request) => audience.v1.customers.upsert(row, request)).summary();
  await vi.advanceTimersByTimeAsync(39 * dayMs);
  const before = mock.requests.length;
  await vi.advanceTimersByTimeAsync(2 * dayMs);

  expect(before).toBe(1);
  expect(await summary).toMatchObject({ total: 1, succeeded: 1 });
  expect(mock.requests).toHaveLength(2);
});
