import { AudienceClient, RateLimiter } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { expect, it } from "vitest";

it("A call that has a new key after a 401 is refused if its permit would come too late", async () => {
  const mock = createMockService();
  const keys = ["revoked-key-of-yesterday"];
  const audience = new AudienceClient({
    ...mock.clientOptions,
    apiKey: () => keys.pop() ?? mock.clientOptions.apiKey,
    rateLimiter: new RateLimiter({ windows: [{ limit: 1, intervalMs: 1_000 }] }),
  });

  const call = audience.v1.customers.get("anybody", { maxWaitMs: 0 });

  await expect(call).rejects.toMatchObject({ code: "rate_limit_wait", outcome: "not-applied" });
  expect(mock.requests.map(({ status }) => status)).toEqual([401]);
});
