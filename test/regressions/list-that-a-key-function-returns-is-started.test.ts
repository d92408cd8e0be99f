import { AudienceClient } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { expect, it } from "vitest";

it("A list that the key function of bulk returns by mistake is not started: the row is invalid", async () => {
  const mock = createMockService();
  const audience = new AudienceClient(mock.clientOptions);

  const summary = await audience.bulk(
    [{ email: "ada@example.com" }],
    (row, request) => audience.v1.customers.upsert(row, request),
    { key: () => audience.v1.customers.list() as never },
  );

  expect(summary).toMatchObject({ invalid: 1 });
  expect(mock.requests).toEqual([]);
});
