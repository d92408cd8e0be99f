import { createMockService, type MockOrganizationSeed, type MockVariants } from "audience-sdk/mock";
import { describe, expect, it } from "vitest";
import { inProcess, msw, nodeHttp } from "./entry-points.ts";

const CREATE = "/api/v1/customer/create";
const ADD = "/api/v1/contact-groups/news/contacts";
const EVENTS = "/api/v1/events";
const CONTACTS = "/v2/contacts";

const acme: MockOrganizationSeed = {
  id: "acme",
  apiKeys: ["acme-key"],
  appId: "acme-app",
  lists: [
    { id: "news", name: "News", created_at: 1 },
    { id: "offers", name: "Offers", created_at: 2 },
    { id: "engaged", name: "Engaged", type: "SEGMENT", created_at: 3 },
  ],
  contacts: [
    {
      id: "ada",
      email: "ada@example.com",
      phone: "1111111",
      email_opt_in: "UNSUBSCRIBED",
      phone_opt_in: "UNSUBSCRIBED",
      external_id: "x1",
    },
    { id: "grace", email: "grace@example.com", phone: "2222222" },
    { id: "alan", email: "alan@example.com" },
  ],
  welcomeFlow: true,
};

async function open(variants: Partial<MockVariants>) {
  const entryPoint = await inProcess.open({ organizations: [acme], variants, clock: () => 0 });
  const contact = (id: string) =>
    entryPoint.mock.organization("acme").contacts.find((candidate) => candidate.id === id);
  return {
    ...entryPoint,
    contact,
    state: () => entryPoint.mock.organization("acme"),
    post: (path: string, body: unknown) => entryPoint.call(path, { body }),
  };
}

const consent = { createdAt: "2026-01-31T09:30:00Z", ip: "::1", source: "form" };
const v2Contact = (status: string, more: Record<string, unknown> = {}) => ({
  firstName: "Ada",
  listIds: [],
  identifiers: [{ type: "email", id: "ada@example.com", channels: { email: { status } }, consent }],
  ...more,
});

/** A placeholder for two items of a list. */
const listed: unknown[] = [
  { id: "ada", email: "ada@example.com", phone: "1111111", email_opt_in: "UNSUBSCRIBED" },
  { id: "grace", email: "grace@example.com", phone: "2222222", email_opt_in: "NON_SUBSCRIBED" },
];

describe("variants: v1 lists", () => {
  it.each<[MockVariants["v1List"], object]>([
    ["array", listed],
    ["data", { data: listed }],
    ["data-key", { data: { customers: listed } }],
    ["root-key", { customers: listed }],
  ])("v1List %s", async (v1List, body) => {
    const { call } = await open({ v1List, v1Paging: "none", v1ListedCustomer: "flat" });
    const response = await call("/api/v1/customer?limit=2");

    expect(response.body).toMatchObject(body);
    expect(JSON.stringify(response.body)).not.toContain("total");
  });

  it("v1List names the contact groups by another key", async () => {
    const { call } = await open({ v1List: "root-key", v1Paging: "none" });

    expect((await call("/api/v1/contact-groups?limit=1")).body).toEqual({
      contact_groups: [{ id: "news", name: "News", type: "LIST", created_at: 1 }],
    });
  });

  it("v1List as a function receives items, page, limit and total", async () => {
    const { call } = await open({
      v1List: (items, page, limit, total) => ({ rows: items.length, page, limit, total }),
    });

    expect((await call("/api/v1/customer?page=2&limit=2")).body).toEqual({
      rows: 1,
      page: 2,
      limit: 2,
      total: 3,
    });
  });

  const snake = { current_page: 1, items_per_page: 2, total_pages: 2, total_items: 3 };
  const camel = { currentPage: 1, itemsPerPage: 2, totalPages: 2, totalItems: 3 };
  it.each<[Partial<MockVariants>, object]>([
    [{ v1Paging: "meta" }, { meta: snake }],
    [{ v1Paging: "meta", v1PagingCase: "camel" }, { meta: camel }],
    [{ v1Paging: "pagination" }, { pagination: snake }],
    [{ v1Paging: "totals" }, snake],
    [{ v1Paging: "totals", v1PagingCase: "camel" }, camel],
    [{ v1Paging: "none" }, {}],
  ])("%j is placed beside the items", async (variants, beside) => {
    const { call } = await open({ ...variants, v1ListedCustomer: "flat", profileAttributes: "documented" });

    expect((await call("/api/v1/customer?limit=2")).body).toEqual({
      data: [expect.anything(), expect.anything()],
      ...beside,
    });
  });

  it("v1Paging links links each page to the next, and ends with null", async () => {
    const { call, options } = await open({});
    const link = (page: number) => `${options.baseUrl}/api/v1/contact-groups?type=ALL&limit=2&page=${page}`;
    const first = await call("/api/v1/contact-groups?type=ALL&limit=2");
    const second = await call("/api/v1/contact-groups?type=ALL&limit=2&page=2");

    expect(first.body).toMatchObject({
      links: { self: link(1), first: link(1), prev: null, next: link(2), last: link(2) },
    });
    expect(second.body).toMatchObject({ links: { prev: link(1), next: null } });
  });

  it.each<[MockVariants["v1ListedCustomer"], object]>([
    ["resource", { type: "profile", id: "ada", attributes: { email: "ada@example.com" } }],
    ["envelope", { data: { type: "profile", id: "ada", attributes: { email: "ada@example.com" } } }],
    ["flat", { id: "ada", email: "ada@example.com" }],
  ])("v1ListedCustomer %s", async (v1ListedCustomer, item) => {
    const { call } = await open({ v1ListedCustomer, v1List: "array" });

    expect((await call("/api/v1/customer?limit=1")).body).toMatchObject([item]);
  });

  it.each<[MockVariants["v1CustomerOrder"], string[]]>([
    ["created", ["a", "b", "c"]],
    ["newest", ["c", "b", "a"]],
    ["updated", ["b", "c", "a"]],
  ])("v1CustomerOrder %s", async (v1CustomerOrder, order) => {
    let now = 0;
    const contacts = ["a", "b", "c"].map((id) => ({ id, email: `${id}@example.com` }));
    const mock = createMockService({
      clock: () => now,
      organizations: [{ id: "o", apiKeys: ["key"], appId: "app", contacts }],
      variants: { v1CustomerOrder, v1List: "array" },
    });
    now = 1_000;
    mock.unsubscribe("b", { organization: "o", channel: "email" });

    const response = await mock.fetch("https://mock.example/api/v1/customer", {
      method: "GET",
      headers: { "X-API-Key": "key" },
    });

    const shown = (await response.json()) as { id: string }[]; // Safe: a bare array
    expect(shown.map(({ id }) => id)).toEqual(order);
  });

  it.each<[MockVariants["v1ListedCustomer"], string]>([
    ["resource", "[0].attributes"],
    ["envelope", "[0].data.attributes"],
    ["flat", "[0]"],
  ])("v1ListedConsents false, of a contact that is listed as %s", async (v1ListedCustomer, path) => {
    const { call } = await open({ v1ListedCustomer, v1ListedConsents: false, v1List: "array" });

    const { body } = await call("/api/v1/customer?limit=1");

    expect(body).toHaveProperty(`${path}.email`);
    for (const name of ["email_opt_in", "phone_opt_in", "is_suppressed"])
      expect(body).not.toHaveProperty(`${path}.${name}`);
    expect((await call("/api/v1/customer/ada")).body).toHaveProperty("data.attributes.email_opt_in");
  });

  it.each<[MockVariants["v1ListedGroup"], object]>([
    ["flat", { id: "news", name: "News", type: "LIST", created_at: 1 }],
    ["resource", { type: "list", id: "news", attributes: { name: "News", type: "LIST", created_at: 1 } }],
  ])("v1ListedGroup %s", async (v1ListedGroup, item) => {
    const { call } = await open({ v1ListedGroup, v1List: "array" });

    expect((await call("/api/v1/contact-groups?limit=1")).body).toEqual([item]);
  });

  it.each<[MockVariants["v1Group"], object]>([
    ["flat", { id: "news", name: "News", type: "LIST", created_at: 1 }],
    ["data", { data: { id: "news", name: "News", type: "LIST", created_at: 1 } }],
    [
      "resource",
      {
        data: { type: "list", id: "news", attributes: { name: "News", type: "LIST", created_at: 1 } },
        links: { self: "https://audience-mock.example/api/v1/contact-groups/news" },
      },
    ],
  ])("v1Group %s", async (v1Group, body) => {
    const { call } = await open({ v1Group });

    expect(await call("/api/v1/contact-groups/news")).toMatchObject({ status: 200, body });
  });

  it("unknownGroupStatus", async () => {
    const { call } = await open({ unknownGroupStatus: 400 });

    expect((await call("/api/v1/contact-groups/nothing")).status).toBe(400);
  });

  it("profileAttributes documented omits the undocumented attributes", async () => {
    const { call } = await open({ profileAttributes: "documented" });
    const { body } = await call("/api/v1/customer/ada");

    expect(body).not.toHaveProperty("data.attributes.external_id");
    expect(body).toMatchObject({ data: { attributes: { phone: "1111111", source: "api" } } });
  });
});

describe("variants: errors and credentials", () => {
  it.each<[MockVariants["v1Error"], unknown]>([
    ["message", { message: "no list or segment has this id" }],
    ["error", { error: "no list or segment has this id" }],
    ["error-object", { error: { code: "not_found", message: "no list or segment has this id" } }],
    ["errors", { errors: [{ field: "", message: "no list or segment has this id" }] }],
    [
      "json-api",
      {
        errors: [
          {
            status: "404",
            title: "Not Found",
            detail: "no list or segment has this id",
            source: { pointer: "/" },
          },
        ],
      },
    ],
    ["status-code", { statusCode: 404, message: ["no list or segment has this id"], error: "Not Found" }],
    ["text", "no list or segment has this id"],
    ["empty", ""],
    [({ status, message }) => [status, message], [404, "no list or segment has this id"]],
  ])("v1Error %s", async (v1Error, body) => {
    const { call } = await open({ v1Error });
    const response = await call("/api/v1/contact-groups/nothing");

    expect(response).toMatchObject({ status: 404, body });
  });

  it("v1Error errors names each field", async () => {
    const { post } = await open({ v1Error: "errors" });

    expect((await post(CREATE, { email: "x", firstName: "y" })).body).toEqual({
      errors: [
        { field: "email", message: "email must be an email address" },
        {
          field: "firstName",
          message: expect.stringContaining("firstName is not a recognized field; there are email, phone,"),
        },
      ],
    });
  });

  it("rateLimitStatus", async () => {
    const { call } = await inProcess.open({
      rateLimits: [{ limit: 1, intervalMs: 60_000 }],
      variants: { rateLimitStatus: 503 },
    });
    await call("/v2/lists");

    expect(await call("/v2/lists")).toMatchObject({ status: 503, body: { status: "error" } });
  });

  it.each<[Partial<MockVariants>, string, unknown]>([
    [{ rateLimitHeader: "ratelimit-reset" }, "ratelimit-reset", { message: "rate limit exceeded" }],
    [{ rateLimitBody: "html", rateLimitStatus: 503 }, "retry-after", undefined],
    [
      { rateLimitBody: ({ waitMs }) => ({ code: "slow_down", seconds: Math.ceil(waitMs / 1_000) }) },
      "retry-after",
      { code: "slow_down", seconds: 60 },
    ],
  ])("a refusal for the rate looks as %j says", async (variants, header, body) => {
    const mock = createMockService({ rateLimits: [{ limit: 1, intervalMs: 60_000 }], variants });
    const { baseUrl, apiKey } = mock.clientOptions;
    const ask = () => mock.fetch(`${baseUrl}/api/v1/customer`, { headers: { "x-api-key": apiKey } });
    await ask();

    const refusal = await ask();

    expect(refusal.status).toBe(variants.rateLimitStatus ?? 429);
    expect(Number(refusal.headers.get(header))).toBe(60);
    const text = await refusal.text();
    if (body) expect(JSON.parse(text)).toEqual(body);
    else
      expect([refusal.headers.get("content-type"), text]).toEqual([
        "text/html; charset=utf-8",
        expect.stringMatching(/^<!doctype html>/),
      ]);
  });

  it("v1NeedsAppId", async () => {
    const { call } = await open({ v1NeedsAppId: true });

    expect((await call("/api/v1/customer")).status).toBe(401);
    expect((await call("/api/v1/customer", { headers: { "service-app-id": "acme-app" } })).status).toBe(200);
  });

  it("permissions limit a key to some operations", async () => {
    const { call, post } = await open({ permissions: { "acme-key": ["v1.customers.get"] } });

    expect((await call("/api/v1/customer/ada")).status).toBe(200);
    expect((await post(CREATE, { email: "new@example.com" })).status).toBe(403);
  });
});

describe("variants: events", () => {
  const event = { eventName: "seen", contact: { email: "ada@example.com" } };

  it.each([
    [202, { id: 7 }, { id: 7 }],
    [201, undefined, ""],
    [204, { id: 7 }, ""],
  ])("eventStatus %i, eventBody %j", async (eventStatus, eventBody, body) => {
    const { post, state } = await open({ eventStatus, eventBody });

    expect(await post(EVENTS, event)).toMatchObject({ status: eventStatus, body });
    expect(state().events).toHaveLength(1);
  });

  it.each<[MockVariants["contactUuidPlace"], number, number]>([
    ["either", 200, 200],
    ["contact", 200, 400],
    ["root", 400, 200],
  ])(
    "contactUuidPlace %s: in the contact %i, at the root %i",
    async (contactUuidPlace, inContact, atRoot) => {
      const { post } = await open({ contactUuidPlace });

      expect((await post(EVENTS, { eventName: "seen", contact: { contactUUID: "ada" } })).status).toBe(
        inContact,
      );
      expect((await post(EVENTS, { eventName: "seen", contactUUID: "ada" })).status).toBe(atRoot);
    },
  );

  it("unknownContactUuidStatus", async () => {
    const { post } = await open({ unknownContactUuidStatus: 400 });

    expect((await post(EVENTS, { eventName: "seen", contact: { contactUUID: "nobody" } })).status).toBe(400);
  });

  it("isUniqueIdentifierRequired", async () => {
    const { post } = await open({ isUniqueIdentifierRequired: true });

    expect((await post(EVENTS, event)).status).toBe(400);
    expect((await post(EVENTS, { ...event, uniqueIdentifier: "1" })).status).toBe(200);
  });
});

describe("variants: v1 writes", () => {
  it.each([
    ["kept", "UNSUBSCRIBED"],
    ["SUBSCRIBED", "SUBSCRIBED"],
    ["NON_SUBSCRIBED", "NON_SUBSCRIBED"],
  ] as const)("emailOptInOmitted %s on customer create: %s", async (emailOptInOmitted, state) => {
    const { post, contact } = await open({ emailOptInOmitted });
    await post(CREATE, { email: "ada@example.com" });

    expect(contact("ada")?.email_opt_in).toBe(state);
  });

  it.each([
    ["kept", "UNSUBSCRIBED"],
    ["SUBSCRIBED", "SUBSCRIBED"],
    ["NON_SUBSCRIBED", "NON_SUBSCRIBED"],
  ] as const)("phoneOptInOmitted %s on either write: %s", async (phoneOptInOmitted, state) => {
    for (const path of [CREATE, ADD]) {
      const { post, contact } = await open({ phoneOptInOmitted });
      await post(path, { email: "ada@example.com", email_opt_in: "SUBSCRIBED" });

      expect(contact("ada")?.phone_opt_in).toBe(state);
    }
  });

  it.each([
    ["recorded", "SUBSCRIBED"],
    ["pending", "NON_SUBSCRIBED"],
  ] as const)("doubleOptIn %s: %s", async (doubleOptIn, state) => {
    const { post, contact } = await open({ doubleOptIn });
    await post(CREATE, { email: "ada@example.com", email_opt_in: "SUBSCRIBED", double_opt_in: true });

    expect(contact("ada")).toMatchObject({ email_opt_in: state, double_opt_in: true });
  });

  it.each([
    ["merged", { plan: "gold", seats: "2" }],
    ["replaced", { seats: "2" }],
  ] as const)("customProperties %s", async (customProperties, stored) => {
    const { post, contact } = await open({ customProperties });
    await post(CREATE, { email: "ada@example.com", custom_properties: { plan: "gold", seats: 1 } });
    await post(CREATE, { email: "ada@example.com", custom_properties: { seats: 2 } });

    expect(contact("ada")?.custom_properties).toEqual(stored);
  });

  it.each([
    ["insensitive", 3],
    ["sensitive", 4],
  ] as const)("emailCase %s", async (emailCase, count) => {
    const { post, state } = await open({ emailCase });
    await post(CREATE, { email: "ADA@example.com" });

    expect(state().contacts).toHaveLength(count);
  });

  it.each([
    ["email", "ada"],
    ["phone", "grace"],
  ] as const)("matchFirst %s", async (matchFirst, id) => {
    const { post, contact } = await open({ matchFirst });
    await post(CREATE, { email: "ada@example.com", phone: "2222222", first_name: "Either" });

    expect(contact(id)?.first_name).toBe("Either");
  });

  it.each([
    ["kept", 201, "Atlantis"],
    ["dropped", 201, undefined],
    ["refused", 400, undefined],
  ] as const)("unknownCountry %s", async (unknownCountry, status, country) => {
    const { post, contact } = await open({ unknownCountry });

    expect((await post(CREATE, { email: "ada@example.com", country: "Atlantis" })).status).toBe(status);
    expect(contact("ada")?.country).toBe(country);
  });

  it.each([
    [true, 4],
    [false, 3],
  ])("unknownListWritesContact %s", async (unknownListWritesContact, count) => {
    const { post, state } = await open({ unknownListWritesContact });

    expect((await post("/api/v1/contact-groups/nothing/contacts", { email: "new@example.com" })).status).toBe(
      404,
    );
    expect(state().contacts).toHaveLength(count);
  });

  it.each([
    [false, 404, 0],
    [true, 200, 1],
  ])("canAddToSegment %s", async (canAddToSegment, status, members) => {
    const { post, state } = await open({ canAddToSegment });

    expect((await post("/api/v1/contact-groups/engaged/contacts", { email: "ada@example.com" })).status).toBe(
      status,
    );
    expect(state().memberships).toHaveLength(members);
  });
});

describe("variants: the v2 family", () => {
  it("v2DefaultLimit and v2MaxLimit", async () => {
    const { call } = await open({ v2DefaultLimit: 1, v2MaxLimit: 2 });

    expect((await call("/v2/lists")).body).toMatchObject({ data: { items_per_page: 1, total_pages: 2 } });
    expect((await call("/v2/lists?limit=50")).body).toMatchObject({ data: { items_per_page: 2 } });
  });

  it("v2MaxLength", async () => {
    const { post } = await open({ v2MaxLength: 3 });
    const short = {
      firstName: "Ada",
      listIds: [],
      identifiers: [
        {
          type: "email",
          id: "a@b",
          channels: { email: { status: "on" } },
          consent: { ...consent, source: "web" },
        },
      ],
    };

    expect((await post(CONTACTS, short)).status).toBe(200);
    expect((await post(CONTACTS, { ...short, firstName: "Adam" })).status).toBe(400);
  });

  it.each([
    ["stored", 200, "PENDING"],
    ["ignored", 200, "UNSUBSCRIBED"],
    ["refused", 400, "UNSUBSCRIBED"],
  ] as const)("v2OtherStatus %s", async (v2OtherStatus, status, state) => {
    const { post, contact } = await open({ v2OtherStatus });

    expect((await post(CONTACTS, v2Contact("pending"))).status).toBe(status);
    expect(contact("ada")?.email_opt_in).toBe(state);
  });

  it.each([
    [true, "SUBSCRIBED"],
    [false, "UNSUBSCRIBED"],
  ])("canV2Resubscribe %s, on both channels", async (canV2Resubscribe, state) => {
    const { post, contact } = await open({ canV2Resubscribe });
    const identifiers = [
      { type: "email", id: "ada@example.com", channels: { email: { status: "subscribed" } }, consent },
      { type: "phone", id: "1111111", channels: { phone: { status: "subscribed" } }, consent },
    ];
    await post(CONTACTS, v2Contact("subscribed", { identifiers }));

    expect(contact("ada")).toMatchObject({ email_opt_in: state, phone_opt_in: state });
  });

  it.each([
    ["ignored", 200, ["news"]],
    ["refused", 400, []],
  ] as const)("v2UnknownList %s", async (v2UnknownList, status, joined) => {
    const { post, state } = await open({ v2UnknownList });

    expect((await post(CONTACTS, v2Contact("subscribed", { listIds: ["nothing", "news"] }))).status).toBe(
      status,
    );
    expect(state().memberships.map(({ listId }) => listId)).toEqual(joined);
  });

  it.each([
    ["added", ["news", "offers"]],
    ["replaced", ["offers"]],
  ] as const)("v2ListIds %s; the trigger stays once for each list", async (v2ListIds, lists) => {
    const { post, state } = await open({ v2ListIds });
    for (const listId of ["news", "offers", "news", "offers"])
      await post(CONTACTS, v2Contact("subscribed", { listIds: [listId] }));

    expect(state().memberships.map(({ listId }) => listId)).toEqual(lists);
    expect(state().triggers.map(({ listId }) => listId)).toEqual(["news", "offers"]);
  });

  it.each([
    ["every-request", 2],
    ["once", 1],
  ] as const)("welcomeEmail %s", async (welcomeEmail, mails) => {
    const { post, state } = await open({ welcomeEmail });
    await post(CONTACTS, v2Contact("subscribed", { triggerWelcomeEmail: true }));
    await post(CONTACTS, v2Contact("subscribed", { triggerWelcomeEmail: true }));

    expect(state().welcomeEmails).toHaveLength(mails);
  });
});

describe.each([inProcess, msw, nodeHttp])("variants: base URLs with a path, $name", (entryPoint) => {
  it("are the addresses of the families", async () => {
    const variants = { baseUrl: "https://one.example/eu/audience/", baseUrlV2: "https://two.example/lists" };
    const { mock, call, close } = await entryPoint.open({ organizations: [acme], variants });
    const groups = await call("/api/v1/contact-groups/news");
    const lists = await call("/v2/lists");
    await close();

    expect([groups.status, lists.status]).toEqual([200, 200]);
    expect(mock.requests.map(({ path }) => path)).toEqual([
      "/eu/audience/api/v1/contact-groups/news",
      "/lists/v2/lists",
    ]);
  });
});
