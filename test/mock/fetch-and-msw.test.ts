import { AudienceClient } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { mswHandlers } from "audience-sdk/mock/msw";
import { setupServer } from "msw/node";
import { afterEach, expect, it } from "vitest";
import { failUnhandled } from "./entry-points.ts";

const mock = createMockService();
const headers = {
  "x-api-key": mock.clientOptions.apiKey,
  "service-api-key": mock.clientOptions.apiKey,
  "service-app-id": mock.clientOptions.appId,
};
let stop = (): void => undefined;
afterEach(() => {
  stop();
  stop = () => undefined;
  mock.reset();
});

function start(...handlers: Parameters<typeof setupServer>): void {
  const server = setupServer(...handlers);
  server.listen(failUnhandled);
  stop = () => server.close();
}

it.each([
  ["two hosts", "https://v1.test", "https://v2.test/"],
  ["one host with a path", "https://api.test/audience", "https://api.test/audience/"],
  ["a path with special characters", "https://api.test/a.b+(c)", "https://api.test/(v2)"],
  ["a host in upper case", "HTTPS://API.test", "https://API.test"],
  ["the default port", "https://api.test:443/audience", "https://api.test:443/audience"],
])("handlers respond at the base URLs of the code under test: %s", async (_, baseUrl, baseUrlV2) => {
  start(...mswHandlers(mock, { baseUrl, baseUrlV2 }));
  // As a program asks for it, which may spell it otherwise.
  const at = (url: string) => new URL(url).href.replace(/\/$/, "");
  const v1 = await fetch(`${at(baseUrl)}/api/v1/contact-groups?type=LIST`, { headers });
  const v2 = await fetch(`${at(baseUrlV2)}/v2/lists`, { headers });

  expect([v1.status, v2.status]).toEqual([200, 200]);
  expect(await v1.json()).toMatchObject({ data: [{ id: "mock-list" }] });
  expect(mock.requests.map(({ operation }) => operation)).toEqual(["v1.contactGroups.list", "v2.lists.list"]);
});

it("links in responses lead to the mock's own base URL, which may be that of the code under test", async () => {
  const own = createMockService({ variants: { baseUrl: "https://api.test/audience" } });
  start(...mswHandlers(own));
  const response = await fetch("https://api.test/audience/api/v1/contact-groups?limit=1", { headers });
  const { links } = (await response.json()) as { links: { next: string } };

  expect(links.next).toBe("https://api.test/audience/api/v1/contact-groups?limit=1&page=2");
  expect((await fetch(links.next, { headers })).status).toBe(200);
  expect(own.requests).toHaveLength(2);
});

const api = "https://api.example.com";

it.each([
  ["the v2 base URL below that of v1", { baseUrl: api, baseUrlV2: `${api}/marketing` }, {}],
  [
    "one base URL for two of the mock",
    { baseUrl: api, baseUrlV2: api },
    { baseUrl: "https://mock.example/one", baseUrlV2: "https://mock.example/two" },
  ],
])("Behind MSW, each family reaches its own paths with %s", async (_, urls, variants) => {
  const own = createMockService({ variants });
  start(...mswHandlers(own, urls));
  const { apiKey, appId } = own.clientOptions;
  const audience = new AudienceClient({ ...urls, apiKey, appId, rateLimiter: false });

  await audience.v1.customers.get("nobody").catch(() => {});
  await audience.v2.lists.list();
  await audience.v1.request({ method: "GET", path: "/api/v1/later" }).catch(() => {});

  expect(own.requests.map(({ operation, status }) => [operation, status])).toEqual([
    ["v1.customers.get", 404],
    ["v2.lists.list", 200],
    [undefined, 404],
  ]);
});
