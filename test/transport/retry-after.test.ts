import { AudienceClient, type ClientOptions, RateLimiter, type RateLimitError } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { failureOf } from "./failure.ts";
import { mockedClient, within } from "./fixture.ts";

const start = Date.UTC(2026, 10, 21, 12);

beforeEach(() => void vi.useFakeTimers({ now: start }));

/** A service whose first response has this status and these headers, and a log of the arrivals. */
function recovering(status: number, headers: Record<string, string>, options: ClientOptions = {}) {
  const mock = createMockService();
  const arrivedAt: number[] = [];
  const fetch = async (url: string, init: RequestInit) =>
    arrivedAt.push(Date.now() - start) === 1
      ? new Response("{}", { status, headers })
      : mock.fetch(url, init);
  return { arrivedAt, audience: new AudienceClient({ ...mock.clientOptions, fetch, ...options }) };
}

const httpDate = (ms: number) => new Date(start + ms).toUTCString();

describe.each([429, 503, 408, 500])("Retry-After on a %i", (status) => {
  it.each<[string, number]>([
    ...["soon", "-5", "", "1; 2", "NaN", "0x10", "Fri, 99 Foo 2026 99:99:99 GMT"].map(
      (text): [string, number] => [text, 0],
    ),
    [String(start / 1_000 - 60), 0],
    [String(start - 60_000), 0],
    ["7", 7_000],
    ["0.5", 500],
    ["1.25", 1_250],
    ["3600", 3_600_000],
    [httpDate(9_000), 9_000],
    ["Sat Nov 21 12:00:09 2026", 9_000],
    ["Saturday, 21-Nov-26 12:00:09 GMT", 9_000],
    [String(start / 1_000 + 9), 9_000],
    [String(start + 9_000), 9_000],
  ])(
    "of %j is a wait of %i ms, never shortened, and no longer than the backoff",
    async (retryAfter, waitMs) => {
      const { audience, arrivedAt } = recovering(status, { "retry-after": retryAfter });

      await within(3_700_000, audience.v1.customers.list({}));

      expect(arrivedAt).toHaveLength(2);
      expect(arrivedAt[1]).toBeGreaterThanOrEqual(waitMs);
      expect(arrivedAt[1]).toBeLessThanOrEqual(Math.max(waitMs, 1_000) + 5);
    },
  );

  it.each([
    ["3601", 3_601_000],
    ["1e309", Number.MAX_SAFE_INTEGER],
    ["9".repeat(400), Number.MAX_SAFE_INTEGER],
    [String(start / 1_000 + 3_601), 3_601_000],
    ["Fri, 31 Dec 9999 23:59:59 GMT", Date.UTC(9999, 11, 31, 23, 59, 59) - start],
  ])(
    "of more than an hour (%s) fails at once, with the wait in the error",
    async (retryAfter, retryAfterMs) => {
      const { audience, arrivedAt } = recovering(status, { "retry-after": retryAfter });

      const error = await failureOf(audience.v1.customers.get("c-1"));

      expect(error).toMatchObject({ status, retryAfterMs, request: { attempts: 1 } });
      expect(arrivedAt).toEqual([0]);
    },
  );

  it("past deadlineMs fails at once, with the wait in the error", async () => {
    const { audience, arrivedAt } = recovering(status, { "retry-after": "5" });

    const error = await failureOf(audience.v1.customers.get("c-1", { deadlineMs: 4_000 }));

    expect(error).toMatchObject({ status, retryAfterMs: 5_000, request: { attempts: 1 } });
    expect(error.message).toContain("the service asks to wait 5000 ms");
    expect(arrivedAt).toEqual([0]);
  });
});

// A server that rounds its wait down says 0: the limiter has no pause to wait for.
it.each([
  ["0", "with", 0],
  ["a date that is past", "with", new Date(0)],
  ["0", "without", 0],
  ["no wait", "without", false],
] as const)("The waits after 429s that name %s grow, %s a limiter", async (_, limiter, retryAfter) => {
  const waits: number[] = [];
  const hooks = { onRetry: ({ waitMs = 0 }) => void waits.push(waitMs) };
  const rateLimiter = limiter === "with" && new RateLimiter();
  const { mock, audience } = mockedClient({ faults: [{ kind: "429", retryAfter }] }, { rateLimiter, hooks });

  await within(60_000, failureOf(audience.v1.customers.list()));

  const arrivals = mock.requests.map(({ arrivedAtMs }) => arrivedAtMs);
  const gaps = arrivals.slice(1).map((arrivedAt, before) => arrivedAt - arrivals[before]!);
  expect(gaps).toHaveLength(4);
  for (const [retry, gap] of gaps.entries()) {
    expect(gap).toBeGreaterThanOrEqual(250 * 2 ** retry - 1);
    expect(Math.abs(gap - waits[retry]!)).toBeLessThanOrEqual(2);
  }
});

describe("A Retry-After that is a date counts from the service's Date, in any zone of this process", () => {
  beforeEach(() => {
    vi.setSystemTime(start + 86_400_000);
    vi.stubEnv("TZ", "Asia/Tokyo");
  });

  async function waitOf(retryAfter: string): Promise<number | undefined> {
    const headers = { "retry-after": retryAfter, date: httpDate(0) };
    const fetch = async () => new Response("{}", { status: 429, headers });
    const { v1 } = new AudienceClient({ ...createMockService().clientOptions, fetch, maxRetries: 0 });
    const error = (await failureOf(v1.customers.get("c-1"))) as RateLimitError;
    return error.retryAfterMs;
  }

  // Date.parse reads the first three as the year 2001, and a date without a zone as local time.
  it.each([
    ["-5", undefined],
    ["soon 5", undefined],
    ["1 2", undefined],
    ["Infinity", undefined],
    ["Sat, 21 Nov 1970 12:00:00 GMT", 0],
    ["0", 0],
    ["Sat Nov 21 12:00:10 2026", 10_000],
    ["Saturday, 21-Nov-26 12:00:10 GMT", 10_000],
    ["Sat, 21 Nov 2026 12:00:10 GMT", 10_000],
  ])("%j is a wait of %s ms", async (retryAfter, waitMs) => {
    expect(await waitOf(retryAfter)).toBe(waitMs);
  });

  // A gateway adds its own header to the service's: `fetch` joins the two by a comma, which a date holds too.
  it.each([
    ["60, 60", 60_000],
    ["1, 60", 60_000],
    ["60,1", 60_000],
    ["soon, 60", undefined],
    ["60, soon", 60_000],
    ["Sat, 21 Nov 2026 12:00:10 GMT, Sat, 21 Nov 2026 12:00:20 GMT", 20_000],
    ["5, Saturday, 21-Nov-26 12:00:10 GMT", 10_000],
  ])("and of one given twice (%j) the longest wait counts", async (retryAfter, waitMs) => {
    expect(await waitOf(retryAfter)).toBe(waitMs);
  });
});
