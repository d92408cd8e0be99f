import { AudienceClient } from "audience-sdk";
import { createMockService, type MockRateLimitOptions, type MockServiceOptions } from "audience-sdk/mock";
import { describe, expect, it } from "vitest";
import { inProcess } from "./entry-points.ts";

/** Sends a request at each of the times, and returns the statuses. */
async function statusesAt(
  rateLimits: NonNullable<MockServiceOptions["rateLimits"]>,
  timesMs: readonly number[],
) {
  let nowMs = 0;
  const { call } = await inProcess.open({ rateLimits, clock: () => nowMs });
  const [statuses, waits]: [number[], (string | null)[]] = [[], []];
  for (const timeMs of timesMs) {
    nowMs = timeMs;
    const { status, headers } = await call("/api/v1/customer");
    statuses.push(status);
    waits.push(headers.get("retry-after"));
  }
  return { statuses, waits };
}

const two = (more: Partial<MockRateLimitOptions> = {}): MockRateLimitOptions => ({
  windows: [{ limit: 2, intervalMs: 1_000 }],
  ...more,
});

describe("rate limits of the mock", () => {
  it("count failed requests, and the requests of both families", async () => {
    const mock = createMockService({ rateLimits: two(), clock: () => 0 });
    const { baseUrl, baseUrlV2 } = mock.clientOptions;
    for (const url of [`${baseUrl}/api/v1/customer`, `${baseUrlV2}/v2/lists`, `${baseUrl}/api/v1/customer`])
      await mock.fetch(url);

    expect(mock.requests.map(({ status }) => status)).toEqual([401, 401, 429]);
  });

  it("refuse a request before it is applied", async () => {
    const rateLimits = [{ limit: 1, intervalMs: 1_000 }];
    const { call, mock } = await inProcess.open({ rateLimits, clock: () => 0 });
    for (const email of ["a@example.com", "b@example.com"])
      await call("/api/v1/customer/create", { body: { email } });

    expect(mock.organization("mock-organization").contacts).toMatchObject([{ email: "a@example.com" }]);
    expect(mock.requests).toMatchObject([
      { status: 201, applied: true },
      { status: 429, applied: false },
    ]);
  });

  it.each<[string, Partial<MockRateLimitOptions>, timesMs: number[], statuses: number[]]>([
    [
      "sliding: a permit is available again one window after its own request",
      {},
      [0, 600, 999, 1_000, 1_599, 1_600],
      [200, 200, 429, 200, 429, 200],
    ],
    [
      "fixed: the count restarts at each boundary",
      { algorithm: "fixed" },
      [900, 950, 999, 1_000, 1_001, 1_002],
      [200, 200, 429, 200, 200, 429],
    ],
    [
      "fixed: the boundaries can be shifted",
      { algorithm: "fixed", phaseMs: 300 },
      [900, 950, 1_000, 1_299, 1_300],
      [200, 200, 429, 429, 200],
    ],
    [
      "token bucket: it refills evenly, and never above its size",
      { algorithm: "token-bucket" },
      [0, 0, 499, 500, 999, 1_000, 9_000, 9_000, 9_000],
      [200, 200, 429, 200, 429, 200, 200, 200, 429],
    ],
    [
      "sliding: refused requests do not count",
      {},
      [0, 0, 500, 1_000, 1_400, 2_400],
      [200, 200, 429, 200, 200, 200],
    ],
    [
      "sliding: refused requests count where configured, and then block the caller",
      { countRefused: true },
      [0, 0, 500, 1_000, 1_400, 2_400],
      [200, 200, 429, 200, 429, 200],
    ],
  ])("%s", async (_, more, timesMs, statuses) => {
    expect((await statusesAt(two(more), timesMs)).statuses).toEqual(statuses);
  });

  it.each(["sliding", "fixed", "token-bucket"] as const)(
    "%s: where refused requests count, a caller who obeys Retry-After is not refused again",
    async (algorithm) => {
      const windows = [
        { limit: 2, intervalMs: 10_000 },
        { limit: 3, intervalMs: 30_000 },
      ];
      const refusedAt = [0, 0, 3_000];
      const rateLimits = { windows, algorithm, countRefused: true };
      const { statuses, waits } = await statusesAt(rateLimits, refusedAt);
      const obeyingAt = 3_000 + Number(waits.at(-1)) * 1_000;

      expect(statuses).toEqual([200, 200, 429]);
      expect((await statusesAt(rateLimits, [...refusedAt, obeyingAt])).statuses.at(-1)).toBe(200);
      expect((await statusesAt(rateLimits, [...refusedAt, obeyingAt - 1_001])).statuses.at(-1)).toBe(429);
    },
  );

  it("Retry-After is in seconds, a date, or absent, and rounded up", async () => {
    const window = { windows: [{ limit: 1, intervalMs: 2_500 }] };
    const wait = async (more: Partial<MockRateLimitOptions>) =>
      (await statusesAt({ ...window, ...more }, [0, 100])).waits[1];

    expect(await wait({})).toBe("3");
    expect(await wait({ retryAfter: "date" })).toBe("Thu, 01 Jan 1970 00:00:03 GMT");
    expect(await wait({ retryAfter: false })).toBeNull();
  });

  it("of several full windows the longest wait counts", async () => {
    const windows = [
      { limit: 1, intervalMs: 1_000 },
      { limit: 2, intervalMs: 60_000 },
    ];
    const { waits } = await statusesAt(windows, [0, 0, 1_000, 2_000]);

    expect(waits).toEqual([null, "1", null, "58"]);
  });

  it("over real HTTP each address has its own limit", async () => {
    const mock = createMockService({ rateLimits: [{ limit: 1, intervalMs: 60_000 }] });
    await using listener = await mock.listen();
    const { baseUrl, apiKey } = listener.clientOptions;
    const headers = { "x-api-key": apiKey };

    expect((await mock.fetch(`${mock.clientOptions.baseUrl}/api/v1/customer`, { headers })).status).toBe(200);
    expect((await fetch(`${baseUrl}/api/v1/customer`, { headers })).status).toBe(200);
    expect((await fetch(`${baseUrl}/api/v1/customer`, { headers })).status).toBe(429);
  });
});

it.each<[NonNullable<MockServiceOptions["rateLimits"]>]>([
  [false],
  ["documented"],
  [[{ limit: 1, intervalMs: 1_000 }]],
  [two({ algorithm: "fixed", retryAfter: undefined })],
])("Rate limits configure the client too: %j", async (rateLimits) => {
  const mock = createMockService({ rateLimits });
  const audience = new AudienceClient(mock.clientOptions);

  expect((await audience.v2.lists.list()).items).toHaveLength(1);
  expect(mock.requests).toMatchObject([{ status: 200 }]);
});
