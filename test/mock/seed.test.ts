import { createMockService, type MockOrganizationSeed, type MockServiceOptions } from "audience-sdk/mock";
import { describe, expect, it } from "vitest";

const acme: MockOrganizationSeed = {
  id: "acme",
  apiKeys: ["acme-key"],
  appId: "acme-app",
  lists: [{ id: "news", name: "News" }],
};

const idsOf = (seed: number) => {
  const contacts = [{ email: "a@example.com" }, { email: "b@example.com" }];
  return createMockService({ organizations: [{ ...acme, contacts }], seed })
    .organization("acme")
    .contacts.map(({ id }) => id);
};

describe("the default organization", () => {
  it("has a list, a segment and keys that are recognizable as the mock's", () => {
    const { clientOptions, organization } = createMockService();

    expect(clientOptions.apiKey).toContain("mock");
    expect(clientOptions.appId).toContain("mock");
    expect(organization(clientOptions.apiKey).groups.map(({ id, type }) => [id, type])).toEqual([
      ["mock-list", "LIST"],
      ["mock-segment", "SEGMENT"],
    ]);
    expect(clientOptions.rateLimiter).toBe(false);
  });
});

describe("a seed", () => {
  it("is stored by the rules of a v1 write", () => {
    const contacts = [
      {
        email: "ada@example.com",
        country: "Italy",
        custom_properties: { seats: 3, blank: " " },
        lists: ["news"],
      },
    ];
    const state = createMockService({ organizations: [{ ...acme, contacts }], clock: () => 0 }).organization(
      "acme",
    );

    expect(state.contacts).toMatchObject([
      {
        email: "ada@example.com",
        email_opt_in: "NON_SUBSCRIBED",
        country: "IT",
        custom_properties: { seats: "3" },
        created: "1970-01-01T00:00:00.000Z",
      },
    ]);
    expect(state.memberships).toEqual([
      { listId: "news", contactId: state.contacts[0]?.id, joinedAt: "1970-01-01T00:00:00.000Z" },
    ]);
    expect(state.triggers).toEqual([]);
  });

  it("may contain ids and times", () => {
    const known = {
      id: "ada",
      phone: "1234567",
      created: "2020-01-01T00:00:00.000Z",
      updated: "2021-01-01T00:00:00.000Z",
    };
    const { contacts } = createMockService({ organizations: [{ ...acme, contacts: [known] }] }).organization(
      "acme",
    );

    expect(contacts).toMatchObject([known]);
  });

  it("leads to the same ids for the same seed number, and to others for another", () => {
    expect(idsOf(7)).toEqual(idsOf(7));
    expect(new Set([...idsOf(7), ...idsOf(8)]).size).toBe(4);
    expect(idsOf(7)[0]).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-8[\da-f]{3}-[\da-f]{12}$/);
  });

  it("is not changed by requests to the mock", async () => {
    const organizations = [{ ...acme, contacts: [{ email: "ada@example.com" }] }];
    const before = structuredClone(organizations);
    const mock = createMockService({ organizations });
    const { baseUrl } = mock.clientOptions;
    const headers = { "x-api-key": "acme-key", "content-type": "application/json" };
    const body = JSON.stringify({ email: "ada@example.com", first_name: "Ada" });
    const { status } = await mock.fetch(`${baseUrl}/api/v1/customer/create`, {
      method: "POST",
      headers,
      body,
    });

    expect(status).toBe(201);
    expect(organizations).toEqual(before);
  });

  it("with separate v2 keys provides them in the client options", () => {
    const { clientOptions } = createMockService({ organizations: [{ ...acme, apiKeysV2: ["acme-v2"] }] });

    expect(clientOptions).toMatchObject({ apiKey: "acme-key", apiKeyV2: "acme-v2", appId: "acme-app" });
  });

  // A seed may come from JSON, without types.
  it.each<[string, unknown, RegExp]>([
    ["no organization", [], /^options\.organizations must have at least 1 item$/],
    [
      "an organization that is not in an array",
      acme,
      /^options\.organizations must be an array, not an object$/,
    ],
    ["a string for organizations", "acme", /^options\.organizations must be an array, not a string$/],
    ["keys that are a string", [{ ...acme, apiKeys: "acme-key" }], /organizations\[0\]\.apiKeys/],
    [
      "a key in two organizations",
      [acme, { ...acme, id: "globex" }],
      /"acme" and "globex" have the same key/,
    ],
    ["an id twice", [acme, { ...acme, apiKeys: ["other"] }], /^organizations: two have the id "acme"$/],
    [
      "a key for v2 in two organizations",
      [
        { ...acme, apiKeysV2: ["both"] },
        { ...acme, id: "globex", apiKeys: ["other"], apiKeysV2: ["both"] },
      ],
      /"acme" and "globex" have the same key/,
    ],
    [
      "a key for v1 of one organization that is another's for v2",
      [
        { ...acme, apiKeysV2: ["acme-v2"] },
        { ...acme, id: "globex", apiKeys: ["other"], apiKeysV2: ["acme-key"] },
      ],
      /"acme" and "globex" have the same key/,
    ],
    [
      "a key for v2 of one organization that is another's for v1",
      [
        { ...acme, apiKeysV2: ["acme-v2"] },
        { ...acme, id: "globex", apiKeys: ["acme-v2"], apiKeysV2: ["other"] },
      ],
      /"acme" and "globex" have the same key/,
    ],
    [
      "a wrong contact that has only a phone",
      [{ ...acme, contacts: [{ phone: "1234567", plan: "gold" }] }],
      /^organization "acme", contact 1234567: plan is not a recognized field; /,
    ],
    [
      "a wrong contact that has only an id",
      [{ ...acme, contacts: [{ id: "ada" }] }],
      /^organization "acme", contact ada: email or phone is required$/,
    ],
    [
      "a contact with an unknown field",
      [{ ...acme, contacts: [{ email: "a@b.c", firstName: "A" }] }],
      /contact a@b.c: firstName/,
    ],
    [
      "a contact without email and phone",
      [{ ...acme, contacts: [{ first_name: "A" }] }],
      /^organization "acme", contact without email and phone: email or phone is required$/,
    ],
    [
      "a contact in an unknown list",
      [{ ...acme, contacts: [{ email: "a@b.c", lists: ["x"] }] }],
      /no list "x"/,
    ],
    [
      "two contacts with one email",
      [{ ...acme, contacts: [{ email: "a@b.c" }, { email: "A@b.c" }] }],
      /earlier one/,
    ],
  ])("is refused with %s", (_, organizations, message) => {
    // @ts-expect-error -- for that reason.
    expect(() => createMockService({ organizations })).toThrow(message);
  });
});

it("The error of a wrong seed has the refusal of its contact as its cause", () => {
  const contacts = [{ first_name: "Ada" }];

  expect(() => createMockService({ organizations: [{ ...acme, contacts }] })).toThrow(
    expect.objectContaining({ cause: expect.objectContaining({ status: 400 }) as unknown }),
  );
});

describe("organization", () => {
  it("names the known organizations in the error for an unknown one", () => {
    const mock = createMockService({
      organizations: [acme, { ...acme, id: "hooli", apiKeys: ["hooli-key"] }],
    });

    expect(() => mock.organization("globex")).toThrow(
      new TypeError('no organization has the id or key "globex"; there are: acme, hooli'),
    );
  });
});

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
