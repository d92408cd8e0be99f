import { AudienceClient } from "audience-sdk";
import { expect, it } from "vitest";

// PHP writes an empty object as an empty array.
it("An empty array in place of attributes, relationships or links is an empty object of the resource", async () => {
  const fetch = async () =>
    Response.json({ data: { type: "profile", id: "c-1", attributes: [], relationships: [], links: [] } });
  const options = {
    baseUrl: "https://api.example.com",
    apiKey: "key-123456",
    fetch,
    rateLimiter: false,
  } as const;

  const profile = await new AudienceClient(options).v1.customers.get("c-1");

  expect(profile).toEqual({ type: "profile", id: "c-1", attributes: {}, relationships: [], links: [] });
});
