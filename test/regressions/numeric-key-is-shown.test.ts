import { AudienceClient, ConfigurationError } from "audience-sdk";
import { describe, expect, it } from "vitest";
import { thrownBy } from "../transport/failure.ts";

describe("A key that is a number", () => {
  it("is refused without being shown", () => {
    const apiKey = 1234567890123456 as unknown as string;

    const error = thrownBy(() => new AudienceClient({ apiKey }));

    expect(error).toBeInstanceOf(ConfigurationError);
    expect(String(error)).toContain("apiKey must be a string, or a function that returns one, not a number");
    expect(String(error)).not.toContain("12345678");
  });

  it("a number in the place of a number is shown", () => {
    expect(() => new AudienceClient({ timeoutMs: -5 })).toThrow(
      "timeoutMs must be a number of milliseconds above 0, not -5",
    );
  });
});
