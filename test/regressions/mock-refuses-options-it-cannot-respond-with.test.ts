import { createMockService, type MockServiceOptions } from "audience-sdk/mock";
import { expect, it } from "vitest";

const untyped = (options: unknown) => () => createMockService(options as MockServiceOptions);
const seed = { id: "o", apiKeys: ["key"], appId: "app" };

it.each([
  ["a variant of another name", { variants: { v1List: "list" } }, "v1List must be one of data, array"],
  ["a variant of another type", { variants: { canAddToSegment: "no" } }, "canAddToSegment must be a boolean"],
  ["a status that no response has", { variants: { eventStatus: 99 } }, "eventStatus must be a status"],
  [
    "lists that are no array",
    { organizations: [{ ...seed, lists: 5 }] },
    "lists must be an array, not a number",
  ],
  [
    "an automation without a trigger",
    { organizations: [{ ...seed, automations: [{ name: "a" }] }] },
    "automations[0]",
  ],
  ["a window that is no object", { rateLimits: [null] }, "rateLimits[0] must be an object, not null"],
])("The mock refuses %s when it is created", (_, options, message) => {
  expect(untyped(options)).toThrow(TypeError);
  expect(untyped(options)).toThrow(message);
});

it("A variant that is undefined has its default, and the caller may change its own objects afterwards", async () => {
  const organization = { ...seed, lists: [{ id: "list-1", name: "Newsletter" }] };
  const mock = untyped({ organizations: [organization], variants: { v1List: undefined } })();
  organization.lists.length = 0;
  mock.reset();

  const headers = { "x-api-key": "key" };
  const response = await mock.fetch(`${mock.clientOptions.baseUrl}/api/v1/contact-groups`, { headers });

  expect(await response.json()).toMatchObject({ data: [{ id: "list-1" }] });
});

it("A response to an event has no body where its status allows none", async () => {
  const mock = createMockService({ variants: { eventStatus: 205 } });
  const { baseUrl, apiKey } = mock.clientOptions;

  const response = await mock.fetch(`${baseUrl}/api/v1/events`, {
    method: "POST",
    headers: { "x-api-key": apiKey, "content-type": "application/json" },
    body: JSON.stringify({ eventName: "signed_up", contact: { email: "ada@example.com" } }),
  });

  expect(response.status).toBe(205);
});
