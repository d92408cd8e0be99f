import { AudienceClient, ConfigurationError } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { mswHandlers } from "audience-sdk/mock/msw";
import { describe, expect, it } from "vitest";
import { failureOf, thrownBy } from "../transport/failure.ts";

// Quadratic time would take hours.
const slashes = `https://api.example.com${"/".repeat(3_000_000)}x`;
const options = { baseUrl: "https://api.example.com", apiKey: "k", rateLimiter: false } as const;

describe("A string of megabytes is refused", () => {
  it("as a base URL", () => {
    for (const name of ["baseUrl", "baseUrlV2"]) {
      const error = thrownBy(() => new AudienceClient({ ...options, [name]: slashes }));
      expect(error).toBeInstanceOf(ConfigurationError);
      expect(String(error)).toContain(`${name} is longer than 2,048 characters`);
    }
  });

  it("as a key, which is not shown", async () => {
    const key = "abcdefgh".repeat(1_000_000);
    const error = thrownBy(() => new AudienceClient({ ...options, apiKey: key }));
    const ofFunction = await failureOf(
      new AudienceClient({ ...options, apiKey: () => key }).v1.customers.get("c-1"),
    );

    for (const one of [error, ofFunction]) {
      expect(one).toBeInstanceOf(ConfigurationError);
      expect(String(one)).toContain("apiKey is longer than 16,384 characters");
      expect(String(one)).not.toContain("abcdefgh");
    }
  });

  it("as the options of mswHandlers", () => {
    const mock = createMockService();
    expect(() => mswHandlers(mock, "x".repeat(10_000_000) as never)).toThrow(TypeError);
  });
});
