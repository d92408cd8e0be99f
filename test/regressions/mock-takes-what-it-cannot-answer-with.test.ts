import { createMockService, type MockServiceOptions } from "audience-sdk/mock";
import { expect, it } from "vitest";

const untyped = (options: unknown) => () => createMockService(options as MockServiceOptions);
const seed = { id: "o", apiKeys: ["key"], appId: "app" };

it.each([
  ["a variant of another name", { variants: { v1List: "list" } }, "v1List must be one of data, array"],
  [
    "a variant of another type",
    { variants: { canAddToSegment: "no" } },
    "canAddToSegment must be true or false",
  ],
  ["a status that no answer has", { variants: { eventStatus: 99 } }, "eventStatus must be a status"],
  ["a BigInt", { variants: { eventBody: { id: 5n } } }, "hold a bigint"],
  ["a toJSON", { variants: { eventBody: { toJSON: () => ({}) } } }, "hold a toJSON"],
  [
    "a clock that gives no time",
    { clock: () => Number.NaN },
    "clock must be a function that gives milliseconds",
  ],
  ["lists that are none", { organizations: [{ ...seed, lists: 5 }] }, "lists must be an array of objects"],
  [
    "an automation without a trigger",
    { organizations: [{ ...seed, automations: [{ name: "a" }] }] },
    "automations[0]",
  ],
  ["a window that is none", { rateLimits: [null] }, "a window needs a limit"],
  [
    "a date that is none",
    { faults: [{ kind: "429", retryAfter: new Date(Number.NaN) }] },
    "retryAfter cannot be",
  ],
])("The mock refuses %s, before a request meets it", (_, options, message) => {
  expect(untyped(options)).toThrow(TypeError);
  expect(untyped(options)).toThrow(message);
});

it("A variant that is undefined is the default, and what the mock was given may be changed", async () => {
  const organization = { ...seed, lists: [{ id: "list-1", name: "Newsletter" }] };
  const mock = untyped({ organizations: [organization], variants: { v1List: undefined } })();
  organization.lists.length = 0;
  mock.reset();

  const headers = { "x-api-key": "key" };
  const answer = await mock.fetch(`${mock.clientOptions.baseUrl}/api/v1/contact-groups`, { headers });

  expect(await answer.json()).toMatchObject({ data: [{ id: "list-1" }] });
});

it("An event's status that allows no body is answered without one", async () => {
  const mock = createMockService({ variants: { eventStatus: 205 } });
  const { baseUrl, apiKey } = mock.clientOptions;

  const answer = await mock.fetch(`${baseUrl}/api/v1/events`, {
    method: "POST",
    headers: { "x-api-key": apiKey, "content-type": "application/json" },
    body: JSON.stringify({ eventName: "signed_up", contact: { email: "ada@example.com" } }),
  });

  expect(answer.status).toBe(205);
});
