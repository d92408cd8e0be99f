import { createMockService } from "audience-sdk/mock";
import { mswHandlers } from "audience-sdk/mock/msw";
import { http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { afterEach, expect, it } from "vitest";

const mock = createMockService();
const headers = {
  "x-api-key": mock.clientOptions.apiKey,
  "service-api-key": mock.clientOptions.apiKey,
  "service-app-id": mock.clientOptions.appId,
};
let stop = (): void => undefined;
afterEach(() => {
  stop();
  mock.reset();
});

function start(...handlers: Parameters<typeof setupServer>): void {
  const server = setupServer(...handlers);
  server.listen({ onUnhandledRequest: "error" });
  stop = () => server.close();
}

it.each([
  ["two hosts", "https://v1.test", "https://v2.test/"],
  ["one host", "https://api.test", "https://api.test"],
  ["one host with a path", "https://api.test/audience", "https://api.test/audience/"],
  ["a path with special characters", "https://api.test/a.b+(c)", "https://api.test/(v2)"],
])("handlers answer at the base URLs of the code under test: %s", async (_, baseUrl, baseUrlV2) => {
  start(...mswHandlers(mock, { baseUrl, baseUrlV2 }));
  const v1 = await fetch(`${baseUrl}/api/v1/contact-groups?type=LIST`, { headers });
  const v2 = await fetch(`${baseUrlV2.replace(/\/$/, "")}/v2/lists`, { headers });

  expect([v1.status, v2.status]).toEqual([200, 200]);
  expect(await v1.json()).toMatchObject({ data: [{ id: "mock-list" }] });
  expect(mock.requests.map(({ operation }) => operation)).toEqual(["v1.contactGroups.list", "v2.lists.list"]);
});

it("handlers leave other hosts alone", async () => {
  start(
    ...mswHandlers(mock),
    http.get("https://other.test/api/v1/customer", () => HttpResponse.text("other")),
  );

  expect(await (await fetch("https://other.test/api/v1/customer")).text()).toBe("other");
  expect(mock.requests).toEqual([]);
});
