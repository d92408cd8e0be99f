import { AudienceClient } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { expect, it, vi } from "vitest";

it("A bulk run with several rows under way ends while a test makes Math.random a constant", async () => {
  vi.spyOn(Math, "random").mockReturnValue(0.5);
  const mock = createMockService();
  const audience = new AudienceClient(mock.clientOptions);
  const rows = Array.from({ length: 25 }, (_, index) => ({ email: `row-${index}@example.com` }));

  const summary = await audience.bulk(rows, (row, request) => audience.v1.customers.upsert(row, request), {
    concurrency: 3,
  });

  expect(summary).toMatchObject({ total: 25, succeeded: 25 });
  expect(new Set(mock.requests.map(({ body }) => body)).size).toBe(25);
});
