import { AudienceClient } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { mswHandlers } from "audience-sdk/mock/msw";
import { setupServer } from "msw/node";
import { expect, it, onTestFinished } from "vitest";

const api = "https://api.example.com";

it.each([
  ["the v2 base URL below that of v1", { baseUrl: api, baseUrlV2: `${api}/marketing` }, {}],
  ["the v1 base URL below that of v2", { baseUrl: `${api}/marketing`, baseUrlV2: api }, {}],
  [
    "one base URL for two of the mock",
    { baseUrl: api, baseUrlV2: api },
    { baseUrl: "https://mock.example/one", baseUrlV2: "https://mock.example/two" },
  ],
])("Behind MSW, each family reaches its own paths with %s", async (_, urls, variants) => {
  const mock = createMockService({ variants });
  const server = setupServer(...mswHandlers(mock, urls));
  server.listen({ onUnhandledRequest: "error" });
  onTestFinished(() => server.close());
  const { apiKey, appId } = mock.clientOptions;
  const audience = new AudienceClient({ ...urls, apiKey, appId, rateLimiter: false });

  await audience.v1.customers.get("nobody").catch(() => {});
  await audience.v2.lists.list();
  await audience.v1.request({ method: "GET", path: "/api/v1/later" }).catch(() => {});

  expect(mock.requests.map(({ operation, status }) => [operation, status])).toEqual([
    ["v1.customers.get", 404],
    ["v2.lists.list", 200],
    [undefined, 404],
  ]);
});
