import { RateLimiter, type BulkRequest } from "audience-sdk";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { collectRun, createFixture, rows, type Row } from "./fixture.ts";
import { MemoryCheckpoint } from "./memory-checkpoint.ts";
import { passUntilSettled } from "./passing-time.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const windows = [
  { limit: 10, intervalMs: 1_000 },
  { limit: 100, intervalMs: 60_000 },
];

it("An `isCurrent` that asks the service gets its permits, and the rows are sent", async () => {
  const rateLimiter = new RateLimiter({ windows });
  const { audience, mock } = createFixture({ latencyMs: 80 }, { rateLimiter });
  const isCurrent = async () => {
    await new Promise((resolve) => setTimeout(resolve, 100));
    await audience.v1.contactGroups.list().toArray({ max: 1 });
    return true;
  };
  const upsert = (row: Row, request: BulkRequest) => audience.v1.customers.upsert(row, request);

  const run = collectRun(audience.bulk(rows(12), upsert, { isCurrent }));
  const { results } = await passUntilSettled(run);

  expect(results.map(({ status }) => status)).toEqual(rows(12).map(() => "succeeded"));
  expect(mock.requests.filter(({ method }) => method === "POST")).toHaveLength(12);
});

it.each(["isCurrent", "checkpoint"])(
  "While the %s of ten rows hangs, a page view is sent",
  async (option) => {
    let hanging = 0;
    const hang = () => new Promise<never>(() => void hanging++);
    /** The records of its rows are never written. */
    class HangingCheckpoint extends MemoryCheckpoint {
      override append = async (text: string, isFlushed: boolean) =>
        await (hasBegun ? hang() : super.append(text, isFlushed));
    }
    let hasBegun = false;
    const checkpoint = new HangingCheckpoint();
    const rateLimiter = new RateLimiter({ windows });
    const { audience, upsert, mock } = createFixture({}, { rateLimiter });
    const call = (item: Row, request: BulkRequest) => {
      hasBegun = true;
      return upsert(item, request);
    };
    const options = option === "isCurrent" ? { isCurrent: hang } : { checkpoint };
    const run = audience.bulk(rows(20), call, options);
    void run.then(undefined, () => {});
    // A row's fingerprint takes real time: `waitFor` gives it, and moves the fake clock on.
    await vi.waitFor(() => expect(hanging).toBe(10), { interval: 1, timeout: 5_000 });

    const page = audience.v1.contactGroups.get("mock-list");
    await vi.advanceTimersByTimeAsync(1_000);

    await expect(page).resolves.toMatchObject({ id: "mock-list" });
    expect(mock.requests.map(({ operation }) => operation)).toEqual(["v1.contactGroups.get"]);
    await vi.waitFor(() => expect(rateLimiter.usage()).toMatchObject({ inFlight: 0, queued: 0 }));
  },
);

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
  const { results } = await passUntilSettled(run);

  expect(results.map(({ status }) => status)).toEqual(["superseded"]);
  expect(keys.at(-1)).toBe("the-next-key");
  expect(mock.requests.map(({ operation }) => operation)).toEqual(["v1.contactGroups.get"]);
});
