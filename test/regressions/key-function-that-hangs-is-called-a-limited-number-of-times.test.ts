import { AudienceClient, TimeoutError } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { describe, expect, it, vi } from "vitest";
import { failureOf } from "../transport/failure.ts";

describe("A key function that never settles", () => {
  it.each([
    [0, 1],
    [2, 3],
  ])("is called, with maxRetries %i, %i times", async (maxRetries, times) => {
    const mock = createMockService();
    const apiKey = vi.fn(() => new Promise<string>(() => {}));
    const audience = new AudienceClient({ ...mock.clientOptions, apiKey, maxRetries, timeoutMs: 5 });

    const error = await failureOf(audience.v1.customers.get("c-1"));

    expect(error).toBeInstanceOf(TimeoutError);
    expect(error.outcome).toBe("not-sent");
    expect(apiKey).toHaveBeenCalledTimes(times);
    expect(mock.requests).toEqual([]);
  });
});
