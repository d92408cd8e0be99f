import { AudienceClient } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { expect, it } from "vitest";

it("a list query that is null is refused, and nothing is sent", async () => {
  const mock = createMockService();
  const { v1, v2 } = new AudienceClient(mock.clientOptions);
  // A caller in JavaScript can pass this.
  const nothing = null as unknown as undefined;

  for (const list of [v1.customers.list(nothing), v1.contactGroups.list(nothing), v2.lists.list(nothing)]) {
    await expect(list.toArray()).rejects.toMatchObject({ code: "validation" });
  }
  expect(mock.requests).toEqual([]);
});
