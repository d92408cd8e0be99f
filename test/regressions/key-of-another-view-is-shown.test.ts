import { inspect } from "node:util";
import { AudienceClient } from "audience-sdk";
import { expect, it } from "vitest";

it("a key of one view does not appear in the errors of another", async () => {
  const key = "key-of-the-first-view-0123456789";
  const audience = new AudienceClient({
    baseUrl: "https://api.example.com",
    apiKey: () => key,
    rateLimiter: false,
    fetch: async () => Response.json({ message: `not the key ${key}` }, { status: 400 }),
  });
  const view = audience.withOptions({ apiKey: "key-of-the-second-view-987654321" });
  await audience.v1.customers.get("a").catch(() => undefined);

  const error: unknown = await view.v1.customers.get("a").catch((thrown: unknown) => thrown);

  expect(error).toMatchObject({ code: "bad_request" });
  expect(inspect(error, { depth: Infinity, showHidden: true })).not.toContain("first-view-0123");
});
