import { AudienceClient } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { expect, it } from "vitest";

it("an unknown key whose value is undefined is left out", async () => {
  const mock = createMockService();
  const audience = new AudienceClient(mock.clientOptions);
  const row = { email: "ada@example.com", listIds: undefined };

  await audience.v1.customers.upsert(row);

  expect(mock.requests[0]?.body).toEqual({ email: "ada@example.com" });
});
