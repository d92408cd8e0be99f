import { AudienceClient, DOCUMENTED_WINDOWS, RateLimiter } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { LIMITS } from "audience-sdk/schemas";
import { describe, expect, it } from "vitest";
import { acme } from "./service.ts";

describe("the rate", () => {
  it("has three windows, which the client's own limiter counts", () => {
    const windows = [
      { limit: 10, intervalMs: 1_000 },
      { limit: 100, intervalMs: 60_000 },
      { limit: 1_000, intervalMs: 3_600_000 },
    ];
    expect(DOCUMENTED_WINDOWS).toEqual(windows);
    expect(LIMITS.rate).toBe(DOCUMENTED_WINDOWS);
    expect(new RateLimiter().usage().windows).toMatchObject(windows);
  });

  it.each([
    ["second", 10, 1_000],
    ["minute", 100, 60_000],
    ["hour", 1_000, 3_600_000],
  ])(
    "the service refuses request number limit + 1 in the same %s (limit %i), and accepts it after %i ms",
    async (_, limit, intervalMs) => {
      let nowMs = 0;
      const mock = createMockService({ organizations: [acme], rateLimits: "documented", clock: () => nowMs });
      const { baseUrl, apiKey } = mock.clientOptions;
      const ask = async () =>
        (await mock.fetch(`${baseUrl}/api/v1/customer/ada`, { headers: { "x-api-key": apiKey } })).status;
      // Spread over time so that no shorter window is full.
      const stepMs = Math.floor(intervalMs / limit) - 1;
      const startMs = nowMs;
      for (let sent = 0; sent < limit; sent += 1) {
        expect(await ask()).toBe(200);
        if (sent < limit - 1) nowMs += stepMs;
      }

      expect(await ask()).toBe(429);
      nowMs = startMs + intervalMs + stepMs + 2;
      expect(await ask()).toBe(200);
    },
  );

  it("both families of a client share one limiter", async () => {
    const mock = createMockService({ organizations: [acme] });
    const audience = new AudienceClient({ ...mock.clientOptions, rateLimiter: new RateLimiter() });
    await audience.v1.customers.get("ada");
    await audience.v2.lists.list();

    expect(audience.rateLimiter?.usage().windows.map(({ used }) => used)).toEqual([2, 2, 2]);
    await audience.close();
  });
});

// The rows of `v1-contact.test.ts` try each length of a v1 contact.
it("LIMITS has the keys of custom properties and the size of a page", () => {
  expect(LIMITS.custom_properties).toEqual({ maxKeys: 30 });
  expect(LIMITS.limit).toEqual({ default: 10, max: 100 });
});
