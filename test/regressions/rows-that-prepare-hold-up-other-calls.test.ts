import { RateLimiter, type BulkRequest } from "audience-sdk";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createFixture, collectRun, LoggedCheckpoint, rows, type Row } from "../bulk/fixture.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const windows = [
  { limit: 10, intervalMs: 1_000 },
  { limit: 100, intervalMs: 60_000 },
];

// Ten rows held the ten permits of the second, and each waited for the response of a call that needed one.
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
  await vi.advanceTimersByTimeAsync(30_000);

  expect((await run).results.map(({ status }) => status)).toEqual(rows(12).map(() => "succeeded"));
  expect(mock.requests).toHaveLength(24);
});

it.each(["isCurrent", "checkpoint"])(
  "While the %s of ten rows hangs, a page view is sent",
  async (option) => {
    let hanging = 0;
    const hang = () => new Promise<never>(() => void hanging++);
    /** The record of the run is written at once, those of its rows never. */
    const set = (name: string) => (name === "run" ? Promise.resolve() : hang());
    const checkpoint = { open: async () => Object.assign(new LoggedCheckpoint(), { set }) };
    const rateLimiter = new RateLimiter({ windows });
    const { audience, upsert, mock } = createFixture({}, { rateLimiter });
    const options = option === "isCurrent" ? { isCurrent: hang } : { checkpoint };
    const run = audience.bulk(rows(20), upsert, options);
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
