import { AudienceClient, RateLimiter } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { expect, it, vi } from "vitest";

it("A bulk run whose limiter cannot estimate its rest rejects with that error", async () => {
  const mock = createMockService();
  const rateLimiter = new RateLimiter();
  const audience = new AudienceClient({ ...mock.clientOptions, rateLimiter });
  vi.spyOn(rateLimiter, "estimateMs").mockImplementation(() => {
    throw new Error("no estimate");
  });

  const run = audience.bulk([1, 2, 3], async () => await Promise.resolve(), { onProgress: () => undefined });

  await expect(run.summary()).rejects.toThrow("no estimate");
});
