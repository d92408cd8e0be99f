import { createMockService, type MockServiceOptions } from "audience-sdk/mock";
import { expect, it } from "vitest";

const organization = { id: "o", apiKeys: ["key"], appId: "app" };
const list = { id: "news", name: "News" };
const segment = { id: "engaged", name: "Engaged", type: "SEGMENT" };

/** From JSON or JavaScript, without types. */
const untyped = (options: unknown) => () => createMockService(options as MockServiceOptions);
const seeded = (more: object) => untyped({ organizations: [{ ...organization, ...more }] });

it.each<[string, object, string]>([
  [
    "an organization",
    { welcomeflow: true },
    "organizations[0].welcomeflow is not a recognized field; there are id, apiKeys, apiKeysV2, appId, lists, contacts, automations, welcomeFlow",
  ],
  [
    "an organization, one letter short",
    { apiKeyV2: ["z"] },
    "organizations[0].apiKeyV2 is not a recognized field; there are ",
  ],
  [
    "an organization, in the singular",
    { automation: [] },
    "organizations[0].automation is not a recognized field; there are ",
  ],
  [
    "an organization, in place of one that is required",
    { appId: undefined, appID: "app" },
    "organizations[0].appID is not a recognized field; there are ",
  ],
  [
    "a list",
    { lists: [list, { ...segment, kind: "SEGMENT" }] },
    "organizations[0].lists[1].kind is not a recognized field; there are id, name, type, description, created_at",
  ],
  [
    "a list, in the other case",
    { lists: [{ ...list, createdAt: 5 }] },
    "organizations[0].lists[0].createdAt is not a recognized field; there are ",
  ],
  [
    "a contact",
    { contacts: [{ email: "ada@example.com", list: ["news"] }] },
    'organization "o", contact ada@example.com: list is not a recognized field',
  ],
  [
    "an automation",
    { automations: [{ name: "a", on: { event: "e" }, enabled: false }] },
    "organizations[0].automations[0].enabled is not a recognized field; there are name, on",
  ],
  [
    "an automation's trigger",
    { automations: [{ name: "a", on: { event: "e", list: "news" } }] },
    "organizations[0].automations[0].on.list is not a recognized field; there are event, listId",
  ],
])("An unknown name is refused in %s, with the known names", (_, more, message) => {
  expect(seeded(more)).toThrow(TypeError);
  expect(seeded(more)).toThrow(message);
});

it("A name whose value is undefined is ignored", () => {
  const lists = [{ ...list, kind: undefined, description: undefined }];

  expect(seeded({ welcomeflow: undefined, lists })().organization("o").groups).toMatchObject([list]);
});

it("A field of a contact whose value is undefined is left out, and has its default", () => {
  const custom_properties = { plan: undefined, seats: 3 };
  const ada = { email: "ada@example.com", source: undefined, is_suppressed: undefined, custom_properties };

  expect(seeded({ contacts: [ada] })().organization("o").contacts).toMatchObject([
    { email: "ada@example.com", source: "api", is_suppressed: false, custom_properties: { seats: "3" } },
  ]);
  expect(seeded({ contacts: [{ email: undefined, phone: undefined }] })).toThrow(
    "email or phone is required",
  );
});

it("A trigger whose event is undefined is that of its list", async () => {
  const automations = [{ name: "Hello", on: { event: undefined, listId: "news" } }];
  const mock = seeded({ lists: [list], automations })();
  const { baseUrl, apiKey } = mock.clientOptions;
  await mock.fetch(`${baseUrl}/api/v1/contact-groups/news/contacts`, {
    method: "POST",
    headers: { "x-api-key": apiKey, "content-type": "application/json" },
    body: JSON.stringify({ email: "ada@example.com" }),
  });

  expect(mock.organization("o").automationRuns).toMatchObject([
    { automation: "Hello", on: { listId: "news" } },
  ]);
});

it.each<[string, object, string]>([
  [
    "a welcome flow that is a string",
    { welcomeFlow: "yes" },
    "organizations[0].welcomeFlow must be a boolean",
  ],
  ["a welcome flow that is null", { welcomeFlow: null }, "organizations[0].welcomeFlow must be a boolean"],
  [
    "two lists with one id",
    { lists: [list, { ...segment, id: "news" }] },
    'organizations[0].lists: two have the id "news"',
  ],
  [
    "a list whose id is empty",
    { lists: [{ ...list, id: "" }] },
    "lists[0].id must have at least 1 characters, has 0",
  ],
  [
    "two contacts with one id",
    {
      contacts: [
        { id: "1", email: "ada@example.com" },
        { id: "1", email: "bo@example.com" },
      ],
    },
    'organizations[0].contacts: two have the id "1"',
  ],
  [
    "a contact whose id is empty",
    { contacts: [{ id: "", email: "ada@example.com" }] },
    "organizations[0].contacts[0].id must have at least 1 characters, has 0",
  ],
  [
    "a contact with an invalid creation time",
    { contacts: [{ email: "ada@example.com", created: "yesterday" }] },
    "organizations[0].contacts[0].created must be an ISO 8601 day or date-time",
  ],
  [
    "a contact with an invalid update time",
    { contacts: [{ email: "ada@example.com", updated: "" }] },
    "organizations[0].contacts[0].updated must be an ISO 8601 day or date-time",
  ],
  [
    "an automation on an unknown list",
    { lists: [list], automations: [{ name: "a", on: { listId: "nows" } }] },
    'organizations[0].automations[0].on: the organization has no list "nows"',
  ],
  [
    "an automation on a list of an organization without lists",
    { automations: [{ name: "a", on: { listId: "news" } }] },
    'organizations[0].automations[0].on: the organization has no list "news"',
  ],
  [
    "an automation on an event and a list",
    { lists: [list], automations: [{ name: "a", on: { event: "e", listId: "news" } }] },
    "organizations[0].automations[0].on must be { event } or { listId }; for both, write two automations",
  ],
  [
    "an automation on an event without a name",
    { automations: [{ name: "a", on: { event: "" } }] },
    "organizations[0].automations[0].on.event must have at least 1 characters, has 0",
  ],
])("A seed is refused with %s", (_, more, message) => {
  expect(seeded(more)).toThrow(TypeError);
  expect(seeded(more)).toThrow(message);
});

it.each<[string, object]>([
  [
    "one id for a list, a contact and an organization",
    { id: "x", lists: [{ ...list, id: "x" }], contacts: [{ id: "x", email: "ada@example.com" }] },
  ],
  ["its id as its key", { apiKeys: ["o"] }],
  ["one key for both families", { apiKeys: ["key", "k1"], apiKeysV2: ["key", "k2"] }],
  ["a key of any characters that a header can contain", { apiKeys: ["k $HOME 'x'"] }],
  [
    "a contact in a segment",
    { lists: [segment], contacts: [{ email: "ada@example.com", lists: ["engaged"] }] },
  ],
  [
    "an automation on a segment",
    { lists: [segment], automations: [{ name: "a", on: { listId: "engaged" } }] },
  ],
  [
    "two automations with the same name",
    {
      automations: [
        { name: "a", on: { event: "e" } },
        { name: "a", on: { event: "f" } },
      ],
    },
  ],
  ["a day in place of a time", { contacts: [{ email: "ada@example.com", created: "2026-01-31" }] }],
  ["no welcome flow", { welcomeFlow: false }],
])("A seed is accepted with %s", (_, more) => {
  expect(seeded(more)).not.toThrow();
});
