import { AudienceClient } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("500 writes to as many contacts do not delay the next one", async () => {
  const mock = createMockService({ latencyMs: 0 });
  const { customers } = new AudienceClient(mock.clientOptions).v1;
  const upsert = (email: string) => customers.upsert({ email, email_opt_in: "SUBSCRIBED" });

  const calls = Promise.all(Array.from({ length: 500 }, (_, at) => upsert(`c${at}@example.com`)));
  await vi.advanceTimersByTimeAsync(100);
  await calls;
  const before = mock.requests.length;
  const next = upsert("c1@example.com");
  await vi.advanceTimersByTimeAsync(0);

  expect([before, mock.requests.length]).toEqual([500, 501]);
  await next;
  expect(vi.getTimerCount()).toBe(0);
});
