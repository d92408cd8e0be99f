import { createMockService } from "audience-sdk/mock";
import { describe, expect, it } from "vitest";

/** Arguments that JavaScript can pass to `fetch`, despite its types. */
function fetched(input: unknown, init?: unknown) {
  const mock = createMockService();
  return { mock, response: mock.fetch(input as string, init as RequestInit) };
}

const { apiKey, baseUrl } = createMockService().clientOptions;
const url = `${baseUrl}/api/v1/customer/nobody`;

describe("the mock's fetch", () => {
  it.each([
    ["null", null],
    ["a pair of one", [["x-api-key"]]],
    ["a text", "x-api-key: mock-key"],
  ])("refuses headers that are %s, as every fetch does", async (_title, headers) => {
    const { mock, response } = fetched(url, { headers });
    await expect(response).rejects.toThrow(TypeError);
    expect(mock.requests).toEqual([]);
  });

  it.each([
    ["an object", { "x-api-key": apiKey }],
    ["pairs", [["x-api-key", apiKey]]],
    ["a Map", new Map([["x-api-key", apiKey]])],
    ["Headers", new Headers({ "x-api-key": apiKey })],
  ])("accepts headers that are %s", async (_title, headers) => {
    const { response } = fetched(url, { headers });
    expect((await response).status).toBe(404);
  });
});
