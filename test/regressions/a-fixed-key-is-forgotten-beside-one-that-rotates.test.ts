import { AudienceClient } from "audience-sdk";
import { expect, it } from "vitest";

const fixedKey = "fixed-key-1234567890";

// Response bodies were searched for the last hundred keys only, and a fixed key is recorded once: after a hundred
// keys of the other family's key function, an error showed it.
it("A fixed key stays out of errors, however many keys a key function has returned since", async () => {
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
