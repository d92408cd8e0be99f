import { createMockService } from "audience-sdk/mock";
import { describe, expect, it } from "vitest";

describe("Nested arrays that would be a string of gigabytes are refused by the mock's fetch", () => {
  let wide: unknown = "x";
  for (let level = 0; level < 40; level++) wide = [wide, wide];
  const url = "https://audience-mock.example/api/v1/customer";

  // A test in JavaScript can pass this.
  it.each<[string, unknown, unknown]>([
    ["as the address", wide, undefined],
    ["as the method", url, { method: wide }],
    ["as the body", url, { method: "POST", body: wide }],
    ["as a header", url, { headers: { "x-api-key": wide } }],
    ["as a header of a pair", url, { headers: [["x-api-key", wide]] }],
  ])("%s", async (_, input, init) => {
    await expect(createMockService().fetch(input as string, init as RequestInit)).rejects.toThrow(TypeError);
  });
});
