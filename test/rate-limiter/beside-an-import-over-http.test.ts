import { AudienceClient, RateLimiter } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { expect, it, onTestFinished } from "vitest";

// The documented second and hour, shortened.
const windows = [
  { limit: 10, intervalMs: 100 },
  { limit: 50, intervalMs: 2_000 },
];

it("Over HTTP a call beside an endless import leaves at once, and no call is refused", async () => {
  const mock = createMockService({ rateLimits: { windows, algorithm: "sliding" } });
  const { clientOptions, close } = await mock.listen({ port: 0 });
  onTestFinished(close);
  const rateLimiter = new RateLimiter({ windows });
  const audience = new AudienceClient({ ...clientOptions, rateLimiter });
  const controller = new AbortController();
  function* rows() {
    for (let row = 0; ; row += 1) yield { email: `row-${row}@example.com` };
  }
  const run = audience
    .bulk(rows(), (row, request) => audience.v1.customers.upsert(row, request), { signal: controller.signal })
    .summary()
    .catch((error: unknown) => error);

  const queuedMs: number[] = [];
  for (let call = 0; call < 8; call += 1) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    const response = await audience.v1.contactGroups.get("mock-list").withResponse();
    queuedMs.push(response.queuedMs);
  }
  controller.abort();
  await run;

  // Without a reserve: up to two seconds.
  expect(Math.max(...queuedMs)).toBeLessThan(250);
  expect(mock.requests.filter(({ status }) => status === 429)).toEqual([]);
  // Of the 90 that the two windows leave to it in this time.
  expect(mock.requests.length).toBeGreaterThan(70);
});
