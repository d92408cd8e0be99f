import { RateLimiter } from "audience-sdk";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { collectRun, createFixture, rows } from "../bulk/fixture.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

// The permit was given back, and the pause waited out, between the answer and the row.
it("A row whose slow isCurrent was followed by a long wait asks it again, and the key function too", async () => {
  const keys: string[] = [];
  let key = "mock-api-key-not-a-secret";
  const apiKey = () => {
    keys.push(key);
    return key;
  };
  const rateLimiter = new RateLimiter({ windows: [{ limit: 10, intervalMs: 1_000 }] });
  const faults = [{ kind: "429", operation: "v1.contactGroups.get", times: 1, retryAfter: 4 } as const];
  const { audience, upsert, mock } = createFixture({ faults }, { rateLimiter, apiKey });
  let isAdaCurrent = true;
  const isCurrent = async () => {
    await new Promise((resolve) => setTimeout(resolve, 400));
    return isAdaCurrent;
  };
  const run = collectRun(audience.bulk(rows(1), upsert, { isCurrent }));
  await vi.advanceTimersByTimeAsync(100);
  void audience.v1.contactGroups.get("mock-list", { maxRetries: 0 }).catch(() => {});
  await vi.advanceTimersByTimeAsync(1_000);

  isAdaCurrent = false;
  key = "the-next-key";
  await vi.advanceTimersByTimeAsync(10_000);

  expect((await run).results.map(({ status }) => status)).toEqual(["superseded"]);
  expect(keys.at(-1)).toBe("the-next-key");
  expect(mock.requests.map(({ operation }) => operation)).toEqual(["v1.contactGroups.get"]);
});

it("An isCurrent that takes seconds is asked four times at most, and its row is sent beside others that wait", async () => {
  const rateLimiter = new RateLimiter({ windows: [{ limit: 2, intervalMs: 5_000 }] });
  const { audience, upsert } = createFixture({}, { rateLimiter });
  const asked: number[] = [];
  const isCurrent = async () => {
    asked.push(performance.now());
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    return true;
  };
  const run = collectRun(audience.bulk(rows(4), upsert, { isCurrent }));
  const pages = Array.from({ length: 20 }, () => audience.v1.contactGroups.get("mock-list"));
  await vi.advanceTimersByTimeAsync(120_000);

  expect((await run).results.map(({ status }) => status)).toEqual(rows(4).map(() => "succeeded"));
  expect(await Promise.all(pages)).toHaveLength(20);
  expect(asked.length).toBeLessThanOrEqual(16);
});
