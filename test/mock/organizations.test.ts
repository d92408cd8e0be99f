import { createMockService, type MockOrganizationSeed } from "audience-sdk/mock";
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
    ["null for an organization", [null as never], /organizations\[0\] must be an object, not null/],
    ["an organization without id", [{ ...acme, id: undefined }], /organizations\[0\]\.id/],
    ["an organization without app id", [{ ...acme, appId: 7 }], /organizations\[0\]\.appId/],
    ["an organization without keys", [{ ...acme, apiKeys: [] }], /organizations\[0\]\.apiKeys/],
    ["keys that are a string", [{ ...acme, apiKeys: "acme-key" }], /organizations\[0\]\.apiKeys/],
    ["an empty v2 key", [{ ...acme, apiKeysV2: [""] }], /organizations\[0\]\.apiKeysV2/],
    ["a list without name", [{ ...acme, lists: [{ id: "news" }] }], /lists\[0\]/],
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
