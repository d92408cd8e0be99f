import { AudienceClient } from "audience-sdk";
import { expect, it } from "vitest";

const fixedKey = "fixed-key-1234567890";

// What a service echoes was looked through for the last hundred keys seen, and a fixed one is seen once: a hundred
// keys of the other family's function later, an error showed it.
it("A fixed key stays out of errors, however many keys of a function came after it", async () => {
  let asked = 0;
  const audience = new AudienceClient({
    baseUrl: "https://api.example.com",
    baseUrlV2: "https://api.example.com",
    apiKey: fixedKey,
    apiKeyV2: () => `rotating-${(asked++).toString().padStart(12, "0")}`,
    appId: "app",
    rateLimiter: false,
    fetch: async (url) =>
      url.includes("/v2/")
        ? Response.json({ success: true, data: { lists: [] } })
        : Response.json({ message: `no such key: ${fixedKey}` }, { status: 400 }),
  });
  for (let call = 0; call < 250; call++) await audience.v2.lists.list();

  const error: unknown = await audience.v1.customers.get("c-1").catch((failure: unknown) => failure);

  expect(asked).toBe(250);
  expect(error).toMatchObject({ message: expect.stringContaining("[redacted]") as string });
  expect(JSON.stringify(error)).not.toContain("fixed-key");
});
