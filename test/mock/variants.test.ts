import type { V2Contact } from "audience-sdk";
import type { MockOrganizationSeed, MockVariants } from "audience-sdk/mock";
import { describe, expect, it } from "vitest";
import { acme as documented, emailIdentifier, v2Contact } from "../document/service.ts";
import { entryPoints, inProcess } from "./entry-points.ts";

const email = "ada@example.com";
const CREATE = "/api/v1/customer/create";
const HOST = "https://audience-mock.example";
const GROUPS = "/api/v1/contact-groups";
const ADD = "/api/v1/contact-groups/news/contacts";
const EVENTS = "/api/v1/events";
const CONTACTS = "/v2/contacts";

const contacts = [
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
] as const;
const acme: MockOrganizationSeed = { ...documented, contacts };
const [news] = documented.lists!;

type Variants = Partial<MockVariants>;
/** A path to get, or one to post a body to. */
type Request = string | readonly [path: string, body: unknown];

/** The last response to these requests, and the state then. */
async function played(variants: Variants, ...requests: Request[]) {
  const { call, mock } = await inProcess.open({ organizations: [acme], variants, clock: () => 0 });
  let last = { status: 0, headers: new Headers(), body: undefined as unknown };
  for (const request of requests)
    last = typeof request === "string" ? await call(request) : await call(request[0], { body: request[1] });
  const state = mock.organization("acme");
  const contact = (id: string) => state.contacts.find((candidate) => candidate.id === id);
  return { ...last, state, contact, mock };
}

const list = (limit: number): string => `/api/v1/customer?limit=${limit}`;
const anything = expect.anything() as unknown;
const group = { ...news, type: "LIST" };
const { id: _, ...attributes } = group;
const groupResource = { type: "list", id: "news", attributes };
const two = [anything, anything];
const [first, last] = [1, 2].map((page) => `${HOST}${GROUPS}?type=ALL&limit=2&page=${page}`);
const firstLinks = { self: first, first, prev: null, next: last, last };
const lastLinks = { self: last, first, prev: first, next: null, last };
const snake = { current_page: 1, items_per_page: 2, total_pages: 2, total_items: 3 };
const camel = { currentPage: 1, itemsPerPage: 2, totalPages: 2, totalItems: 3 };

// What a variant does by default is tried in test/document.
describe("The body of a v1 list or group", () => {
  it.each<[Variants, string, unknown]>([
    [{ v1List: "data", v1Paging: "none" }, list(2), { data: two }],
    [{ v1List: "data-key", v1Paging: "none" }, list(2), { data: { customers: two } }],
    [{ v1List: "root-key", v1Paging: "none" }, list(2), { customers: two }],
    [
      { v1List: (items, page, limit, total) => ({ rows: items.length, page, limit, total }) },
      `${list(2)}&page=2`,
      { rows: 1, page: 2, limit: 2, total: 3 },
    ],
    [{ v1Paging: "meta" }, list(2), { data: two, meta: snake }],
    [{ v1Paging: "pagination" }, list(2), { data: two, pagination: snake }],
    [{ v1Paging: "totals" }, list(2), { data: two, ...snake }],
    [{ v1Paging: "totals", v1PagingCase: "camel" }, list(2), { data: two, ...camel }],
    [{ v1Paging: "links" }, `${GROUPS}?type=ALL&limit=2`, { data: two, links: firstLinks }],
    [{ v1Paging: "links" }, `${GROUPS}?type=ALL&limit=2&page=2`, { data: [anything], links: lastLinks }],
    [{ v1ListedGroup: "flat", v1List: "array" }, `${GROUPS}?limit=1`, [group]],
    [{ v1ListedGroup: "resource", v1List: "array" }, `${GROUPS}?limit=1`, [groupResource]],
    [{ v1Group: "data" }, `${GROUPS}/news`, { data: group }],
    [
      { v1Group: "resource" },
      `${GROUPS}/news`,
      { data: groupResource, links: { self: `${HOST}${GROUPS}/news` } },
    ],
  ])("with %j, %s", async (variants, path, body) => {
    expect(await played(variants, path)).toMatchObject({ status: 200, body });
    expect((await played(variants, path)).body).toEqual(body);
  });

  const consents = ["email_opt_in", "phone_opt_in", "is_suppressed"];
  it.each<[MockVariants["v1ListedCustomer"], string, object]>([
    ["resource", "[0].attributes", { type: "profile", id: "ada", attributes: { email: "ada@example.com" } }],
    ["envelope", "[0].data.attributes", { data: { type: "profile", id: "ada", attributes: {} } }],
    ["flat", "[0]", { id: "ada", email: "ada@example.com" }],
  ])("v1ListedCustomer %s, also without consents", async (v1ListedCustomer, path, item) => {
    const { body } = await played({ v1ListedCustomer, v1List: "array" }, list(1));
    const unshown = await played({ v1ListedCustomer, v1List: "array", v1ListedConsents: false }, list(1));

    expect(body).toMatchObject([item]);
    expect(unshown.body).toHaveProperty(`${path}.email`);
    for (const name of consents) {
      expect(body).toHaveProperty(`${path}.${name}`);
      expect(unshown.body).not.toHaveProperty(`${path}.${name}`);
    }
  });

  it.each<[MockVariants["v1CustomerOrder"], string[]]>([
    ["created", ["ada", "grace", "alan"]],
    ["newest", ["alan", "grace", "ada"]],
    ["updated", ["grace", "alan", "ada"]],
  ])("v1CustomerOrder %s", async (v1CustomerOrder, order) => {
    let now = 0;
    const variants = { v1CustomerOrder, v1List: "array" } as const;
    const { call, mock } = await inProcess.open({ organizations: [acme], variants, clock: () => now });
    now = 1_000;
    mock.unsubscribe("grace@example.com", { channel: "email" });

    const { body } = await call("/api/v1/customer");
    expect(body).toMatchObject(order.map((id) => ({ id })));
  });

  it("v1CustomerOrder updated follows the changes, though the clock stands still", async () => {
    const variants = { v1CustomerOrder: "updated", v1List: "array" } as const;
    const { call, mock } = await inProcess.open({ organizations: [acme], variants, clock: () => 0 });
    for (const id of ["alan", "ada", "grace", "ada"]) mock.unsubscribe(id, { channel: "email" });

    const { body } = await call("/api/v1/customer");
    expect(body).toMatchObject(["ada", "grace", "alan"].map((id) => ({ id })));
  });
});

const unknown = "no list or segment has this id";
const seen = { eventName: "seen", contact: { email: "ada@example.com" } };
const inContact: Request = [EVENTS, { eventName: "seen", contact: { contactUUID: "ada" } }];
const atRoot: Request = [EVENTS, { eventName: "seen", contactUUID: "ada" }];
const seenBy = (contact: object): Request => [EVENTS, { eventName: "seen", contact }];
const byPhone = seenBy({ phone: "1111111" });
const nothing = "/api/v1/contact-groups/nothing";
const v2 = (status: string, more: Partial<V2Contact> = {}): Request => [
  CONTACTS,
  v2Contact({ identifiers: [emailIdentifier(email, status)], ...more }),
];

const short = [emailIdentifier("a@b", "on")];

const unrecognized = expect.stringContaining("firstName is not a recognized field") as unknown;

describe("A response", () => {
  it.each<[Variants, Request, number, unknown?]>([
    [{ unknownGroupStatus: 400 }, nothing, 400],
    [{ v1Error: "error" }, nothing, 404, { error: unknown }],
    [{ v1Error: "error-object" }, nothing, 404, { error: { code: "not_found", message: unknown } }],
    [{ v1Error: "errors" }, nothing, 404, { errors: [{ field: "", message: unknown }] }],
    [
      { v1Error: "errors" },
      [CREATE, { email: "x", firstName: "y" }],
      400,
      {
        errors: [
          { field: "email", message: "email must be an email address" },
          { field: "firstName", message: unrecognized },
        ],
      },
    ],
    [
      { v1Error: "json-api" },
      nothing,
      404,
      { errors: [{ status: "404", title: "Not Found", detail: unknown, source: { pointer: "/" } }] },
    ],
    [{ v1Error: "status-code" }, nothing, 404, { statusCode: 404, message: [unknown], error: "Not Found" }],
    [{ v1Error: "text" }, nothing, 404, unknown],
    [{ v1Error: "empty" }, nothing, 404, ""],
    [{ v1Error: ({ status, message }) => [status, message] }, nothing, 404, [404, unknown]],
    [{ eventStatus: 202, eventBody: { id: 7 } }, [EVENTS, seen], 202, { id: 7 }],
    [{ eventStatus: 204, eventBody: { id: 7 } }, [EVENTS, seen], 204, ""],
    [{ contactUuidPlace: "root" }, atRoot, 200],
    [{ contactUuidPlace: "contact" }, inContact, 200],
    [{ contactUuidPlace: "contact" }, atRoot, 400],
    [{ contactUuidPlace: "root" }, inContact, 400],
    [{ unknownContactUuidStatus: 400 }, [EVENTS, { eventName: "seen", contact: { contactUUID: "x" } }], 400],
    [{ isUniqueIdentifierRequired: true }, [EVENTS, seen], 400],
    [{ eventMaxLength: 4 }, [EVENTS, { ...seen, uniqueIdentifier: "seen" }], 200],
    [{ eventMaxLength: 4 }, [EVENTS, { ...seen, eventName: "visit" }], 400],
    [{ eventMaxLength: 4 }, [EVENTS, { ...seen, uniqueIdentifier: "first" }], 400],
    [{ eventMaxLength: 4 }, [EVENTS, { ...seen, eventData: { path: "/home" } }], 400],
    [{}, byPhone, 400],
    [{ eventContactKeys: ["external_id"] }, byPhone, 400],
    [{ eventContactKeys: ["phone"] }, seenBy({ phone: "1" }), 400],
    [{ eventContactKeys: ["external_id"] }, seenBy({ external_id: "x9" }), 404],
    [{ v2MaxLength: 10 }, v2("on", { identifiers: short }), 200],
    [{ v2MaxLength: 10 }, v2("on", { identifiers: short, firstName: "Augusta Ada" }), 400],
  ])("with %j to %j is a %i", async (variants, request, status, body = anything) => {
    const got = await played(variants, request);

    expect(got.status).toBe(status);
    expect(got.body).toEqual(body);
  });

  it("profileAttributes documented omits the undocumented attributes", async () => {
    const { body } = await played({ profileAttributes: "documented" }, "/api/v1/customer/ada");

    expect(body).not.toHaveProperty("data.attributes.external_id");
    expect(body).toMatchObject({ data: { attributes: { phone: "1111111", source: "api" } } });
  });

  it.each<[MockVariants["eventContactKeys"], Request, string]>([
    [["phone"], byPhone, "ada"],
    [["phone", "external_id"], seenBy({ external_id: "x1", city: "Rome" }), "ada"],
    [["phone"], seenBy({ phone: "1111111", email: "alan@example.com" }), "alan"],
  ])("eventContactKeys %j, %j: the contact so named has the event", async (eventContactKeys, request, id) => {
    const { state, contact } = await played({ eventContactKeys }, request);

    expect(state.events).toMatchObject([{ contactId: id }]);
    expect(contact(id)).not.toHaveProperty("city");
  });

  it("with eventContactKeys phone an event creates the contact of an unknown number", async () => {
    const request = seenBy({ phone: "3333333", external_id: "x3" });
    const { state } = await played({ eventContactKeys: ["phone"] }, request);

    expect(state.contacts).toHaveLength(4);
    expect(state.contacts[3]).toMatchObject({ phone: "3333333", email_opt_in: "NON_SUBSCRIBED" });
    expect(state.contacts[3]).not.toHaveProperty("external_id");
  });

  it("v2DefaultLimit and v2MaxLimit", async () => {
    const limits = { v2DefaultLimit: 1, v2MaxLimit: 2 };

    expect((await played(limits, "/v2/lists")).body).toMatchObject({
      data: { items_per_page: 1, total_pages: 2 },
    });
    expect((await played(limits, "/v2/lists?limit=50")).body).toMatchObject({ data: { items_per_page: 2 } });
  });

  it.each<[Variants, string, unknown]>([
    [{ rateLimitStatus: 503 }, "retry-after", { message: "rate limit exceeded" }],
    [{ rateLimitHeader: "ratelimit-reset" }, "ratelimit-reset", { message: "rate limit exceeded" }],
    [
      { rateLimitBody: "html", rateLimitStatus: 503 },
      "retry-after",
      expect.stringMatching(/^<!doctype html>/),
    ],
    [{ rateLimitBody: ({ waitMs }) => [Math.ceil(waitMs / 1_000)] }, "retry-after", [60]],
  ])("that refuses for the rate looks as %j says", async (variants, header, body) => {
    const { call } = await inProcess.open({ rateLimits: [{ limit: 1, intervalMs: 60_000 }], variants });
    await call("/api/v1/customer");

    const refusal = await call("/api/v1/customer");

    expect(refusal).toMatchObject({ status: variants.rateLimitStatus ?? 429, body });
    expect(Number(refusal.headers.get(header))).toBe(60);
  });
});

const restated = { email, email_opt_in: "SUBSCRIBED" };
const optIns = (email_opt_in: string, phone_opt_in = email_opt_in) => ({ email, email_opt_in, phone_opt_in });
const asked = (email_opt_in: string): Request => [CREATE, { email, email_opt_in, double_opt_in: true }];

const suppressing: Request[] = [[CREATE, { email, is_suppressed: true }]];
const changing: Request[] = [
  [CREATE, { email, custom_properties: { plan: "gold", seats: 1 } }],
  [CREATE, { email, custom_properties: { seats: 2 } }],
];

describe("A contact", () => {
  it.each<[Variants, Request[], object]>([
    [{ suppressionOmitted: "kept" }, [...suppressing, [ADD, restated]], { is_suppressed: true }],
    [{ suppressionOmitted: "lifted" }, [...suppressing, [ADD, restated]], { is_suppressed: false }],
    [{ suppressionOmitted: "lifted" }, [...suppressing, [CREATE, { email }]], { is_suppressed: false }],
    [{ suppressionOmitted: "lifted" }, [...suppressing, v2("subscribed")], { is_suppressed: true }],
    [{ emailOptInOmitted: "SUBSCRIBED" }, [[CREATE, { email }]], { email_opt_in: "SUBSCRIBED" }],
    [{ emailOptInOmitted: "NON_SUBSCRIBED" }, [[CREATE, { email }]], { email_opt_in: "NON_SUBSCRIBED" }],
    [{ phoneOptInOmitted: "kept" }, [[ADD, restated]], { phone_opt_in: "UNSUBSCRIBED" }],
    [{ phoneOptInOmitted: "SUBSCRIBED" }, [[ADD, restated]], { phone_opt_in: "SUBSCRIBED" }],
    [{ phoneOptInOmitted: "NON_SUBSCRIBED" }, [[ADD, restated]], { phone_opt_in: "NON_SUBSCRIBED" }],
    [
      { doubleOptIn: "pending" },
      [asked("SUBSCRIBED")],
      { email_opt_in: "NON_SUBSCRIBED", double_opt_in: true },
    ],
    [{ doubleOptIn: "pending" }, [asked("UNSUBSCRIBED")], { email_opt_in: "UNSUBSCRIBED" }],
    [{ doubleOptIn: "pending" }, [[CREATE, restated]], { email_opt_in: "SUBSCRIBED", double_opt_in: false }],
    [{ doubleOptIn: "recorded" }, [asked("SUBSCRIBED")], { email_opt_in: "SUBSCRIBED", double_opt_in: true }],
    [{ customProperties: "replaced" }, changing, { custom_properties: { seats: "2" } }],
    [{ matchFirst: "email" }, [[CREATE, { email, phone: "2222222", city: "Rome" }]], { city: "Rome" }],
    [{ v2OtherStatus: "stored" }, [v2("pending")], { email_opt_in: "PENDING" }],
    [{ v2OtherStatus: "ignored" }, [v2("pending")], { email_opt_in: "UNSUBSCRIBED" }],
    [{ canV2Resubscribe: false }, [v2("subscribed")], { email_opt_in: "UNSUBSCRIBED" }],
    [{ canV1Resubscribe: true }, [[CREATE, optIns("SUBSCRIBED")]], optIns("SUBSCRIBED")],
    [{ canV1Resubscribe: false }, [[CREATE, optIns("SUBSCRIBED")]], optIns("UNSUBSCRIBED")],
    [{ canV1Resubscribe: false }, [[ADD, optIns("SUBSCRIBED")]], optIns("SUBSCRIBED", "UNSUBSCRIBED")],
  ])("with %j after %j", async (variants, requests, fields) => {
    const { contact, status } = await played(variants, ...requests);

    expect(status).toBeLessThan(300);
    expect(contact("ada")).toEqual(expect.objectContaining(fields));
  });

  it.each<[Variants, Request]>([
    [{ v2OtherStatus: "refused" }, v2("pending")],
    [{ unknownCountry: "refused" }, [CREATE, { email, country: "Atlantis" }]],
    [{ v2UnknownList: "refused" }, v2("unsubscribed", { listIds: ["nothing", "news"] })],
  ])("with %j is untouched by %j", async (variants, request) => {
    const { contact, state, status } = await played(variants, request);

    expect(status).toBe(400);
    expect(contact("ada")).toMatchObject(contacts[0]);
    expect(state.memberships).toEqual([]);
  });

  it.each<[Variants, Request, number]>([
    [{ emailCase: "sensitive" }, [CREATE, { email: "ADA@example.com" }], 4],
    [{ unknownListWritesContact: false }, [`${nothing}/contacts`, { email: "new@example.com" }], 3],
  ])("is created or not, with %j by %j", async (variants, request, count) => {
    expect((await played(variants, request)).state.contacts).toHaveLength(count);
  });

  it("unknownCountry dropped, and matchFirst phone", async () => {
    const atlantis: Request = [CREATE, { email, country: "Atlantis" }];
    const either: Request = [CREATE, { email, phone: "2222222", city: "Rome" }];

    expect((await played({ unknownCountry: "dropped" }, atlantis)).contact("ada")).not.toHaveProperty(
      "country",
    );
    expect((await played({ matchFirst: "phone" }, either)).contact("grace")?.city).toBe("Rome");
  });
});

describe("The lists of a contact", () => {
  const joins = ["news", "offers", "news", "offers"].map((id) => v2("subscribed", { listIds: [id] }));
  const welcomes = [1, 2].map(() => v2("subscribed", { triggerWelcomeEmail: true }));

  it.each<[Variants, Request[], number, string[]]>([
    [{ canAddToSegment: true }, [["/api/v1/contact-groups/engaged/contacts", { email }]], 200, ["engaged"]],
    [{ v2UnknownList: "ignored" }, [v2("subscribed", { listIds: ["nothing", "news"] })], 200, ["news"]],
    [{ v2ListIds: "added" }, joins, 200, ["news", "offers"]],
    [{ v2ListIds: "replaced" }, joins, 200, ["offers"]],
  ])("with %j after %j", async (variants, requests, status, lists) => {
    const got = await played(variants, ...requests);

    expect(got.status).toBe(status);
    expect(got.state.memberships.map(({ listId }) => listId)).toEqual(lists);
    // Once for each list, also for who has left it and joins again.
    if (requests === joins) {
      expect(got.state.triggers.map(({ listId }) => listId)).toEqual(["news", "offers"]);
      expect(got.state.automationRuns.map(({ automation }) => automation)).toEqual(["Hello"]);
    }
  });

  it.each([
    ["every-request", 2],
    ["once", 1],
  ] as const)("welcomeEmail %s", async (welcomeEmail, mails) => {
    expect((await played({ welcomeEmail }, ...welcomes)).state.welcomeEmails).toHaveLength(mails);
  });
});

it.each(entryPoints)("Base URLs with a path are the addresses of the families, $name", async (entryPoint) => {
  const variants = { baseUrl: "https://one.example/eu/audience/", baseUrlV2: "https://two.example/lists" };
  const { mock, call, close } = await entryPoint.open({ organizations: [acme], variants });
  const statuses = [(await call("/api/v1/contact-groups/news")).status, (await call("/v2/lists")).status];
  await close();

  expect(statuses).toEqual([200, 200]);
  const paths = ["/eu/audience/api/v1/contact-groups/news", "/lists/v2/lists"];
  expect(mock.requests.map(({ path }) => path)).toEqual(paths);
});
