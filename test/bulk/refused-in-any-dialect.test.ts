import { AudienceClient, RateLimiter, type IsRateLimited } from "audience-sdk";
import { createMockService, type MockRateLimitOptions, type MockVariants } from "audience-sdk/mock";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

interface Dialect {
  readonly variants: Partial<MockVariants>;
  readonly retryAfter?: MockRateLimitOptions["retryAfter"];
  readonly isRateLimited?: IsRateLimited;
}

const byStatus =
  (...statuses: number[]): IsRateLimited =>
  ({ status }) =>
    statuses.includes(status);

const slowDown = ({ waitMs }: { waitMs: number }) => ({ code: "slow_down", waitMs });
const byCode: IsRateLimited = ({ body }) => {
  const { code, waitMs } = Object(body) as { code?: string; waitMs?: number };
  return code === "slow_down" && waitMs !== undefined ? { retryAfterMs: waitMs } : false;
};

/** The ways in which a service, or a gateway in front of it, may refuse a call for its rate. */
const dialects: Record<string, Dialect> = {
  "429 with RateLimit-Reset": { variants: { rateLimitHeader: "ratelimit-reset" } },
  "429 without a wait": { variants: {}, retryAfter: false },
  "a bare 503": { variants: { rateLimitStatus: 503 }, retryAfter: false, isRateLimited: byStatus(503) },
  "503 with HTML and Retry-After": {
    variants: { rateLimitStatus: 503, rateLimitBody: "html" },
    isRateLimited: byStatus(503),
  },
  "403 with HTML": {
    variants: { rateLimitStatus: 403, rateLimitBody: "html" },
    retryAfter: false,
    isRateLimited: byStatus(403),
  },
  "403 with X-RateLimit-Retry-After": {
    variants: { rateLimitStatus: 403, rateLimitHeader: "x-ratelimit-retry-after" },
    isRateLimited: byStatus(403),
  },
  "420 with X-Rate-Limit-Reset": {
    variants: { rateLimitStatus: 420, rateLimitHeader: "x-rate-limit-reset" },
    isRateLimited: byStatus(420),
  },
  "400 with a code and a wait": {
    variants: { rateLimitStatus: 400, rateLimitBody: slowDown },
    retryAfter: false,
    isRateLimited: byCode,
  },
  "200 with an error body": {
    variants: { rateLimitStatus: 200, rateLimitBody: slowDown },
    retryAfter: false,
    isRateLimited: byCode,
  },
};

const rows = Array.from({ length: 30 }, (_, row) => ({
  email: `row${row}@example.com`,
  email_opt_in: "SUBSCRIBED" as const,
}));

/** A run of writes that must not be repeated, beside a stranger who spends the same budget. */
async function importBeside({ variants, retryAfter = "seconds", isRateLimited }: Dialect) {
  const windows = [
    { limit: 10, intervalMs: 1_000 },
    { limit: 100, intervalMs: 60_000 },
  ];
  const mock = createMockService({ rateLimits: { windows, retryAfter }, variants });
  const audience = new AudienceClient({
    ...mock.clientOptions,
    rateLimiter: new RateLimiter({ windows }),
    isRateLimited,
  });
  const { baseUrl, apiKey } = mock.clientOptions;
  const headers = { "x-api-key": apiKey };
  const send = () => {
    for (let call = 0; call < 4; call++) void mock.fetch(`${baseUrl}/api/v1/contact-groups`, { headers });
  };
  send();
  const stranger = setInterval(send, 950);
  const run = audience.bulk(rows, (row, request) =>
    audience.v1.contactGroups.addContact("mock-list", row, { ...request, repeatable: false }),
  );
  let isOver = false;
  const summary = run.summary().finally(() => (isOver = true));
  for (let second = 0; second < 600 && !isOver; second++) await vi.advanceTimersByTimeAsync(1_000);
  clearInterval(stranger);
  const ours = mock.requests.filter(({ method }) => method === "POST");
  return {
    summary: await summary,
    refusals: ours.filter(({ applied }) => !applied).length,
    contacts: mock.organization("mock-organization").contacts,
  };
}

let refusalsByTheService: number;
beforeEach(async () => {
  // Once: it is the same for every dialect.
  refusalsByTheService ??= (await importBeside({ variants: {} })).refusals;
});

it.each(Object.entries(dialects))(
  "A row that is refused by %s waits, and none is lost or in doubt",
  async (_, dialect) => {
    const { summary, refusals, contacts } = await importBeside(dialect);

    expect(summary).toMatchObject({ succeeded: rows.length, failed: 0, unknown: 0 });
    expect(contacts).toHaveLength(rows.length);
    expect(refusals).toBeGreaterThan(0);
    expect(refusals).toBeLessThanOrEqual(1.5 * refusalsByTheService + 5);
  },
);
