import { AudienceClient, RateLimiter, type ListOptions } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { expect, test, vi } from "vitest";
import { collect } from "./fake-list.ts";

/** The priorities with which a list of three contacts, in pages of one, acquires its permits. */
async function prioritiesOf(options?: ListOptions): Promise<(number | undefined)[]> {
  const contacts = ["a", "b", "c"].map((name) => ({ email: `${name}@example.com` }));
  const organization = { id: "acme", apiKeys: ["acme-mock-key"], appId: "acme-app", contacts };
  const limiter = new RateLimiter();
  const take = vi.spyOn(limiter, "acquire");
  const audience = new AudienceClient({
    ...createMockService({ organizations: [organization] }).clientOptions,
    rateLimiter: limiter,
  });

  expect(await collect(audience.v1.customers.list({ limit: 1 }, options))).toHaveLength(3);
  return take.mock.calls.map(([{ priority } = {}]) => priority);
}

// D29
test.each<[string, ListOptions | undefined, (number | undefined)[]]>([
  ["5, where none is given", undefined, [5, 6, 6]],
  ["the call's priority", { priority: 2 }, [2, 3, 3]],
  ["9, which is the last", { priority: 9 }, [9, 9, 9]],
])("a page of the read-ahead has a priority one step below %s", async (_, options, priorities) => {
  expect(await prioritiesOf(options)).toEqual(priorities);
});
