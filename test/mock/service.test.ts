import type { MockOrganizationSeed } from "audience-sdk/mock";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { entryPoints, type OpenEntryPoint } from "./entry-points.ts";

const CREATE = "/api/v1/customer/create";
const ADD = "/api/v1/contact-groups/news/contacts";
const EVENTS = "/api/v1/events";
const CONTACTS = "/v2/contacts";

const acme: MockOrganizationSeed = {
  id: "acme",
  apiKeys: ["acme-key", "acme-key-rotated"],
  apiKeysV2: ["acme-key-v2"],
  appId: "acme-app",
  lists: [
    { id: "news", name: "Newsletter", description: "Weekly", created_at: 1_700_000_000 },
    { id: "offers", name: "Offers", created_at: 1_700_000_001 },
    { id: "engaged", name: "Engaged", type: "SEGMENT", created_at: 1_700_000_002 },
  ],
  contacts: [
    {
      id: "ada",
      email: "ada@example.com",
      phone: "+390111111",
      first_name: "Ada",
      email_opt_in: "UNSUBSCRIBED",
    },
    { id: "grace", email: "grace@example.com", lists: ["news"] },
  ],
  automations: [
    { name: "Thanks", on: { event: "order placed" } },
    { name: "Hello", on: { listId: "news" } },
  ],
  welcomeFlow: true,
};
const globex: MockOrganizationSeed = { id: "globex", apiKeys: ["globex-key"], appId: "globex-app" };

const consent = { createdAt: "2026-01-31T09:30:00Z", ip: "192.0.2.1", source: "form" };
const emailIdentifier = (id: unknown, status = "subscribed") => ({
  type: "email",
  id,
  channels: { email: { status } },
  consent,
});
const phoneIdentifier = (id: unknown, status = "subscribed") => ({
  type: "phone",
  id,
  channels: { phone: { status } },
  consent,
});
const v2Contact = (more: Record<string, unknown> = {}) => ({
  firstName: "Alan",
  listIds: [],
  identifiers: [emailIdentifier("alan@example.com")],
  ...more,
});

/** The ids of the items of a v1 list response. */
function idsIn(body: unknown): unknown[] {
  const items: unknown = typeof body === "object" && body !== null && "data" in body ? body.data : [];
  return Array.isArray(items) ? items.map((item: { id: unknown }) => item.id) : [];
}

const tooLong = (length: number) => "é".repeat(length);

const event = (more: Record<string, unknown> = {}) => ({
  eventName: "order placed",
  uniqueIdentifier: "order-1",
  contact: { email: "ada@example.com" },
  eventData: { total: 9.5, items: [{ sku: "a" }] },
  ...more,
});

// Typed as `unknown`, because the matcher is an `any`.
const anyString: unknown = expect.any(String);

describe.each(entryPoints)("the service, $name", (entryPoint) => {
  let open: OpenEntryPoint;
  const state = () => open.mock.organization("acme");
  const contact = (email: string) => state().contacts.find((candidate) => candidate.email === email);
  const post = (path: string, body: unknown) => open.call(path, { body });

  beforeEach(async () => {
    open = await entryPoint.open({ organizations: [acme, globex], clock: () => Date.UTC(2026, 0, 31) });
  });
  afterEach(() => open.close());

  describe("Authentication", () => {
    it.each([
      ["v1 without a key", "/api/v1/customer", { "x-api-key": "" }],
      ["v1 with an unknown key", "/api/v1/customer", { "x-api-key": "nobody" }],
      [
        "v1 with the v2 headers",
        "/api/v1/customer",
        { "x-api-key": "", "service-api-key": "acme-key", "service-app-id": "acme-app" },
      ],
      ["v2 without a key", "/v2/lists", { "service-api-key": "" }],
      ["v2 without an app id", "/v2/lists", { "service-app-id": "" }],
      ["v2 with another organization's app id", "/v2/lists", { "service-app-id": "globex-app" }],
      ["v2 with a key of the v1 family", "/v2/lists", { "service-api-key": "acme-key" }],
      ["v2 with the v1 header", "/v2/lists", { "service-api-key": "", "x-api-key": "acme-key-v2" }],
    ])("%s gets a 401", async (_, path, headers) => {
      const { status } = await open.call(path, { headers });

      expect(status).toBe(401);
      expect(open.mock.requests).toMatchObject([{ status: 401, applied: false }]);
    });

    it("a request with a bad body and no key is a 401, and changes nothing", async () => {
      const { status } = await open.call(CREATE, {
        body: { email: "new@example.com" },
        headers: { "x-api-key": "" },
      });

      expect(status).toBe(401);
      expect(state().contacts).toHaveLength(2);
    });

    it("a key acts only on its own organization's data", async () => {
      await open.call(CREATE, { body: { email: "hal@example.com" }, headers: { "x-api-key": "globex-key" } });

      expect(open.mock.organization("globex-key").contacts.map(({ email }) => email)).toEqual([
        "hal@example.com",
      ]);
      expect(contact("hal@example.com")).toBeUndefined();
    });

    it("every key of an organization is valid", async () => {
      const { status } = await open.call("/api/v1/customer/ada", {
        headers: { "x-api-key": "acme-key-rotated" },
      });

      expect(status).toBe(200);
    });
  });

  describe("POST /api/v1/customer/create", () => {
    it("creates a contact with 201, its envelope and the defaults", async () => {
      const { status, body } = await post(CREATE, { email: "new@example.com" });

      const { id } = contact("new@example.com") ?? {};
      const self = `${open.options.baseUrl}/api/v1/customer/${id}`;
      expect(status).toBe(201);
      expect(body).toEqual({
        data: {
          type: "profile",
          id,
          attributes: {
            email: "new@example.com",
            email_opt_in: "NON_SUBSCRIBED",
            phone_opt_in: "NON_SUBSCRIBED",
            is_suppressed: false,
            double_opt_in: false,
            source: "api",
            created: "2026-01-31T00:00:00.000Z",
            updated: "2026-01-31T00:00:00.000Z",
          },
          relationships: { lists: { links: { related: `${self}/lists` } } },
        },
        links: { self },
      });
      expect(state().memberships.map(({ contactId }) => contactId)).toEqual(["grace"]);
    });

    it("stores every field that is sent", async () => {
      const fields = {
        email: "full@example.com",
        phone: "1234567",
        external_id: "crm-7",
        first_name: "Full",
        last_name: "House",
        email_opt_in: "SUBSCRIBED",
        phone_opt_in: "UNSUBSCRIBED",
        is_suppressed: true,
        double_opt_in: true,
        source: "import",
        dob: "2000-02-29",
        gender: "OTHER",
        country: "IT",
        state: "TO",
        city: "Turin",
        address1: "Via Po 1",
        address2: "Interno 2",
        postal_code: "10123",
        custom_properties: { plan: "gold" },
      };
      const { status } = await post(CREATE, fields);

      expect(status).toBe(201);
      expect(contact("full@example.com")).toMatchObject(fields);
    });

    it.each([
      ["email", { email: "ada@example.com", first_name: "Augusta" }],
      ["email in another case", { email: "ADA@Example.com", first_name: "Augusta" }],
      ["phone", { phone: "+390111111", first_name: "Augusta" }],
    ])("updates the contact with the same %s, with 201 too", async (_, body) => {
      const response = await post(CREATE, body);

      expect(response).toMatchObject({ status: 201, body: { data: { id: "ada" } } });
      expect(state().contacts).toHaveLength(2);
      expect(state().contacts[0]).toMatchObject({
        first_name: "Augusta",
        phone: "+390111111",
        email_opt_in: "UNSUBSCRIBED",
      });
    });

    it("an address that a contact no longer has can be used again", async () => {
      await post(CREATE, { phone: "+390111111", email: "augusta@example.com" });
      await post(CREATE, { email: "ada@example.com" });

      expect(state().contacts.map(({ email }) => email)).toEqual([
        "augusta@example.com",
        "grace@example.com",
        "ada@example.com",
      ]);
    });

    it("a phone of two contacts identifies the first, also after the other changes it", async () => {
      await post(CREATE, { email: "a@example.com", phone: "1111111" });
      await post(CREATE, { email: "b@example.com" });
      await post(CREATE, { email: "b@example.com", phone: "1111111" });
      await post(CREATE, { email: "b@example.com", phone: "2222222" });
      await post(CREATE, { phone: "1111111", first_name: "Ada" });
      await post(CREATE, { phone: "2222222", first_name: "Bea" });

      expect([contact("a@example.com"), contact("b@example.com")]).toMatchObject([
        { first_name: "Ada" },
        { first_name: "Bea" },
      ]);
    });

    it("is a 400 where email and phone are both missing", async () => {
      const { status } = await post(CREATE, { first_name: "Nobody" });

      expect(status).toBe(400);
      expect(state().contacts).toHaveLength(2);
    });

    it("a contact may have a phone only", async () => {
      const { status } = await post(CREATE, { phone: "7654321" });

      expect(status).toBe(201);
    });

    it.each<[string, Record<string, unknown>]>([
      ["an unrecognized field", { firstName: "Ada" }],
      ["a field that every object has", { constructor: "x" }],
      ["phone of 6 characters", { phone: "123456" }],
      ["phone of 21 characters", { phone: "1".repeat(21) }],
      ["phone as a number", { phone: 12_345_678 }],
      ["first_name of 101 characters", { first_name: tooLong(101) }],
      ["last_name of 101 characters", { last_name: tooLong(101) }],
      ["country of 101 characters", { country: tooLong(101) }],
      ["state of 101 characters", { state: tooLong(101) }],
      ["city of 101 characters", { city: tooLong(101) }],
      ["address1 of 256 characters", { address1: tooLong(256) }],
      ["address2 of 256 characters", { address2: tooLong(256) }],
      ["postal_code of 2 characters", { postal_code: "12" }],
      ["postal_code of 21 characters", { postal_code: "1".repeat(21) }],
      ["email_opt_in in lower case", { email_opt_in: "subscribed" }],
      ["an unknown phone_opt_in", { phone_opt_in: "YES" }],
      ["is_suppressed as a string", { is_suppressed: "true" }],
      ["double_opt_in as a number", { double_opt_in: 1 }],
      ["source as null", { source: null }],
      ["dob that is no real day", { dob: "2023-02-29" }],
      ["dob with a time", { dob: "2000-01-01T00:00:00Z" }],
      ["gender in lower case", { gender: "male" }],
      ["email without @", { email: "nobody" }],
      ["email with a space", { email: "no body@example.com" }],
      [
        "31 custom properties",
        { custom_properties: Object.fromEntries(Array.from({ length: 31 }, (_, at) => [`key${at}`, ""])) },
      ],
      ["a custom property null", { custom_properties: { plan: null } }],
      ["custom_properties as an array", { custom_properties: [] }],
    ])("refuses %s with 400", async (_, fields) => {
      const { status } = await post(CREATE, { email: "new@example.com", ...fields });

      expect(status).toBe(400);
      expect(contact("new@example.com")).toBeUndefined();
    });

    it.each<[string, Record<string, unknown>]>([
      ["phone of 7 characters", { phone: "1234567" }],
      ["phone of 20 characters", { phone: "1".repeat(20) }],
      ["first_name of 100 characters", { first_name: tooLong(100) }],
      ["first_name of 100 characters outside the basic plane", { first_name: "🎈".repeat(100) }],
      ["address1 of 255 characters", { address1: tooLong(255) }],
      ["postal_code of 3 characters", { postal_code: "123" }],
      ["postal_code of 20 characters", { postal_code: "1".repeat(20) }],
      [
        "30 custom properties",
        { custom_properties: Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`key${at}`, "x"])) },
      ],
      ["an empty first_name", { first_name: "" }],
    ])("accepts %s", async (_, fields) => {
      const { status } = await post(CREATE, { email: "new@example.com", ...fields });

      expect(status).toBe(201);
      expect(contact("new@example.com")).toMatchObject(fields);
    });

    it.each([
      ["Italy", "IT"],
      ["germany", "DE"],
      ["it", "IT"],
      ["USA", "US"],
      ["United Kingdom", "GB"],
      ["Atlantis", "Atlantis"],
    ])("normalizes the country %s to %s", async (country, stored) => {
      await post(CREATE, { email: "new@example.com", country });

      expect(contact("new@example.com")?.country).toBe(stored);
    });

    it("converts numbers and booleans to strings, makes nested values unusable, and drops blank ones", async () => {
      const custom_properties = {
        seats: 3,
        isVip: true,
        nested: { a: 1 },
        tags: ["a"],
        empty: "",
        blank: " \t",
        plan: "gold",
      };
      await post(CREATE, { email: "new@example.com", custom_properties });

      expect(contact("new@example.com")?.custom_properties).toEqual({
        seats: "3",
        isVip: "true",
        nested: "[object Object]",
        tags: "[object Array]",
        plan: "gold",
      });
    });

    it("keeps custom properties that a later write does not name", async () => {
      await post(CREATE, { email: "ada@example.com", custom_properties: { plan: "gold", seats: 1 } });
      await post(CREATE, { email: "ada@example.com", custom_properties: { seats: 2, plan: " " } });

      expect(contact("ada@example.com")?.custom_properties).toEqual({ plan: "gold", seats: "2" });
    });

    it.each([
      ["invalid JSON", { rawBody: "{" }],
      ["an array", { body: [{ email: "new@example.com" }] }],
      ["a text", { body: "new@example.com" }],
      ["null", { body: null }],
      [
        "another content type",
        { body: { email: "new@example.com" }, headers: { "content-type": "text/plain" } },
      ],
    ])("refuses %s as the body with 400", async (_, call) => {
      const { status } = await open.call(CREATE, call);

      expect(status).toBe(400);
    });
  });

  describe("GET /api/v1/customer/{id}", () => {
    it("returns the envelope of the contact", async () => {
      const { status, body } = await open.call("/api/v1/customer/ada");

      expect(status).toBe(200);
      expect(body).toMatchObject({
        data: { type: "profile", id: "ada", attributes: { email: "ada@example.com" } },
      });
    });

    it.each(["nobody", "create", "%E0%A4%A", "ada%2Fx"])("is a 404 for %s", async (id) => {
      const { status } = await open.call(`/api/v1/customer/${id}`);

      expect(status).toBe(404);
    });
  });

  describe("lists of the v1 family", () => {
    const listed = async (path: string) => {
      const { status, body } = await open.call(path);
      return { status, ids: idsIn(body) };
    };

    it("contacts are in order of creation, ten per page", async () => {
      for (let at = 0; at < 10; at += 1) await post(CREATE, { email: `n${at}@example.com` });

      const first = await listed("/api/v1/customer");
      const second = await listed("/api/v1/customer?page=2");
      expect(first.ids).toHaveLength(10);
      expect(first.ids.slice(0, 2)).toEqual(["ada", "grace"]);
      expect(second.ids).toHaveLength(2);
      expect(new Set([...first.ids, ...second.ids])).toEqual(new Set(state().contacts.map(({ id }) => id)));
    });

    it("a limit over 100 is capped at 100", async () => {
      const contacts = Array.from({ length: 101 }, (_, at) => ({ email: `n${at}@example.com` }));
      const other = await entryPoint.open({ organizations: [{ ...acme, contacts }] });
      const { body } = await other.call("/api/v1/customer?limit=500");
      await other.close();

      expect(idsIn(body)).toHaveLength(100);
    });

    it.each([
      ["", ["news", "offers", "engaged"]],
      ["?type=ALL", ["news", "offers", "engaged"]],
      ["?type=LIST", ["news", "offers"]],
      ["?type=SEGMENT", ["engaged"]],
      ["?limit=2&page=2", ["engaged"]],
      ["?page=9", []],
    ])("contact groups%s are %j", async (query, ids) => {
      expect(await listed(`/api/v1/contact-groups${query}`)).toEqual({ status: 200, ids });
    });

    it.each(["page=0", "page=-1", "page=x", "page=1.5", "page=", "limit=0", "limit=-5", "limit=ten"])(
      "%s is a 400",
      async (query) => {
        expect(await listed(`/api/v1/customer?${query}`)).toMatchObject({ status: 400 });
        expect(await listed(`/api/v1/contact-groups?${query}`)).toMatchObject({ status: 400 });
      },
    );

    it("an unknown type is a 400", async () => {
      expect(await listed("/api/v1/contact-groups?type=list")).toMatchObject({ status: 400 });
    });

    it.each(["news", "engaged"])("the group %s is found by its id", async (id) => {
      const { status, body } = await open.call(`/api/v1/contact-groups/${id}`);

      expect(status).toBe(200);
      expect(body).toMatchObject({ id });
    });

    it("an unknown group is a 404", async () => {
      expect((await open.call("/api/v1/contact-groups/nothing")).status).toBe(404);
    });
  });

  describe("POST /api/v1/contact-groups/{listId}/contacts", () => {
    it("creates the contact, makes it a member, and returns the action", async () => {
      const { status, body } = await post(ADD, { email: "new@example.com" });

      const created = contact("new@example.com");
      expect(status).toBe(200);
      expect(body).toEqual({
        message: anyString,
        contact: { email: "new@example.com", contactUUID: created?.id, action: "created" },
      });
      expect(state().memberships).toContainEqual({
        listId: "news",
        contactId: created?.id,
        joinedAt: anyString,
      });
    });

    it.each([
      ["contact does not exist", "new@example.com", undefined, "created", "NON_SUBSCRIBED"],
      ["contact exists", "ada@example.com", undefined, "updated", "SUBSCRIBED"],
      ["contact does not exist", "new@example.com", "SUBSCRIBED", "created", "SUBSCRIBED"],
      ["contact does not exist", "new@example.com", "UNSUBSCRIBED", "created", "UNSUBSCRIBED"],
      ["contact exists", "ada@example.com", "NON_SUBSCRIBED", "updated", "NON_SUBSCRIBED"],
      ["contact exists", "ada@example.com", "UNSUBSCRIBED", "updated", "UNSUBSCRIBED"],
      ["contact exists", "ada@example.com", "SUBSCRIBED", "updated", "SUBSCRIBED"],
    ])("%s (%s), email_opt_in %s: action %s, then %s", async (_, email, email_opt_in, action, stored) => {
      const { body } = await post(ADD, { email, email_opt_in });

      expect(body).toMatchObject({ contact: { action } });
      expect(contact(email)?.email_opt_in).toBe(stored);
    });

    it("fires the trigger and its automation once for each contact and list", async () => {
      await post(ADD, { email: "ada@example.com", email_opt_in: "SUBSCRIBED" });
      await post(ADD, { email: "ada@example.com", email_opt_in: "SUBSCRIBED" });
      await post("/api/v1/contact-groups/offers/contacts", {
        email: "ada@example.com",
        email_opt_in: "SUBSCRIBED",
      });

      expect(state().triggers.map(({ name, contactId, listId }) => [name, contactId, listId])).toEqual([
        ["subscribed to list", "ada", "news"],
        ["subscribed to list", "ada", "offers"],
      ]);
      expect(state().automationRuns).toMatchObject([
        { automation: "Hello", contactId: "ada", on: { listId: "news" } },
      ]);
    });

    it("adding a member of the seed fires no trigger", async () => {
      await post(ADD, { email: "grace@example.com", email_opt_in: "SUBSCRIBED" });

      expect(state().triggers).toEqual([]);
    });

    it.each<[string, unknown]>([
      ["wrapped in contact", { contact: { email: "new@example.com" } }],
      ["an array", [{ email: "new@example.com" }]],
      ["without email", { phone: "1234567" }],
      ["with an unrecognized field", { email: "new@example.com", emailOptIn: "SUBSCRIBED" }],
      [
        "with 31 custom properties",
        {
          email: "new@example.com",
          custom_properties: Object.fromEntries(Array.from({ length: 31 }, (_, at) => [at, "x"])),
        },
      ],
    ])("a body %s is a 400 and changes nothing", async (_, body) => {
      const { status } = await post(ADD, body);

      expect(status).toBe(400);
      expect(state().contacts).toHaveLength(2);
    });

    it.each(["nothing", "engaged"])(
      "an id of no list (%s) is a 404, although the contact is written",
      async (listId) => {
        const { status } = await post(`/api/v1/contact-groups/${listId}/contacts`, {
          email: "new@example.com",
        });

        expect(status).toBe(404);
        expect(contact("new@example.com")).toMatchObject({ email_opt_in: "NON_SUBSCRIBED" });
        expect(state().memberships).toHaveLength(1);
        expect(open.mock.requests.at(-1)).toMatchObject({ status: 404, applied: true });
      },
    );
  });

  describe("POST /api/v1/events", () => {
    it("records the event on the contact's timeline and starts its automation", async () => {
      const { status } = await post(EVENTS, event());

      expect(status).toBe(200);
      expect(state().events).toMatchObject([{ contactId: "ada", ...event() }]);
      expect(state().automationRuns).toMatchObject([
        { automation: "Thanks", contactId: "ada", on: { event: "order placed" } },
      ]);
    });

    it("creates the contact if needed, not subscribed", async () => {
      await post(EVENTS, event({ contact: { email: "new@example.com" } }));

      expect(contact("new@example.com")).toMatchObject({ email_opt_in: "NON_SUBSCRIBED" });
    });

    it("an event without a matching automation is still recorded", async () => {
      await post(EVENTS, event({ eventName: "page seen" }));

      expect(state().events).toHaveLength(1);
      expect(state().automationRuns).toEqual([]);
    });

    it("a repeated uniqueIdentifier succeeds without a change", async () => {
      const first = await post(EVENTS, event());
      const again = await post(EVENTS, event({ contact: { email: "new@example.com" } }));

      expect(again).toMatchObject({ status: first.status, body: first.body });
      expect(state().events).toHaveLength(1);
      expect(state().automationRuns).toHaveLength(1);
      expect(contact("new@example.com")).toBeUndefined();
      expect(open.mock.requests.map(({ applied }) => applied)).toEqual([true, false]);
    });

    it("the identifier of another organization's event can be used", async () => {
      await post(EVENTS, event());
      await open.call(EVENTS, { body: event(), headers: { "x-api-key": "globex-key" } });

      expect(open.mock.organization("globex").events).toHaveLength(1);
    });

    it.each([
      ["in the contact", { contact: { contactUUID: "grace" } }],
      ["at the root", { contact: undefined, contactUUID: "grace" }],
    ])("a contactUUID %s identifies the contact", async (_, more) => {
      await post(EVENTS, event(more));

      expect(state().events).toMatchObject([{ contactId: "grace" }]);
    });

    it("an unknown contactUUID is a 404", async () => {
      const { status } = await post(EVENTS, event({ contact: { contactUUID: "nobody" } }));

      expect(status).toBe(404);
      expect(state().events).toEqual([]);
    });

    it("the contact may have further keys", async () => {
      const { status } = await post(
        EVENTS,
        event({ contact: { email: "ada@example.com", first_name: "Ada" } }),
      );

      expect(status).toBe(200);
    });

    it.each<[string, Record<string, unknown>]>([
      ["no eventName", { eventName: undefined }],
      ["an empty eventName", { eventName: "" }],
      ["no contact", { contact: undefined }],
      ["a contact without email and contactUUID", { contact: { phone: "1234567" } }],
      ["a contact that is a string", { contact: "ada@example.com" }],
      ["an invalid email", { contact: { email: "ada" } }],
      ["an empty uniqueIdentifier", { uniqueIdentifier: "" }],
      ["a uniqueIdentifier that is a number", { uniqueIdentifier: 7 }],
      ["eventData that is an array", { eventData: [] }],
      ["null deep in eventData", { eventData: { items: [{ sku: null }] } }],
      ["null in the contact", { contact: { email: "ada@example.com", name: null } }],
      ["an unrecognized field", { event_name: "x" }],
    ])("refuses %s with 400", async (_, more) => {
      const { status } = await post(EVENTS, event(more));

      expect(status).toBe(400);
      expect(state().events).toEqual([]);
    });
  });

  describe("POST /v2/contacts", () => {
    it("creates a contact that the v1 family returns too", async () => {
      const { status, body } = await post(
        CONTACTS,
        v2Contact({
          lastName: "Turing",
          birthDate: "1912-06-23",
          city: "London",
          countryCode: "gb",
          provinceCode: "LND",
          state: "London",
          postalCode: "W9",
          gender: "m",
          createdAt: "2020-01-01T10:00",
          listIds: ["news"],
          loyalty: { points: 3 },
        }),
      );

      expect({ status, body }).toEqual({ status: 200, body: { status: true } });
      const { id } = contact("alan@example.com") ?? {};
      expect(contact("alan@example.com")).toMatchObject({
        first_name: "Alan",
        last_name: "Turing",
        dob: "1912-06-23",
        city: "London",
        country: "GB",
        state: "London",
        postal_code: "W9",
        gender: "MALE",
        created: "2020-01-01T10:00:00.000Z",
        email_opt_in: "SUBSCRIBED",
        phone_opt_in: "NON_SUBSCRIBED",
        consents: [{ type: "email", id: "alan@example.com", ...consent }],
        other_fields: { provinceCode: "LND", loyalty: { points: 3 } },
      });
      expect(state().triggers).toMatchObject([{ contactId: id, listId: "news" }]);
      expect((await open.call(`/api/v1/customer/${id}`)).status).toBe(200);
    });

    it.each([
      ["email", [emailIdentifier("ADA@example.com", "subscribed")]],
      ["phone", [phoneIdentifier("+390111111", "subscribed")]],
      ["second email", [emailIdentifier("augusta@example.com"), emailIdentifier("ada@example.com")]],
    ])("updates the contact that matches by %s", async (_, identifiers) => {
      const { status } = await post(CONTACTS, v2Contact({ identifiers }));

      expect(status).toBe(200);
      expect(state().contacts).toHaveLength(2);
      expect(state().contacts[0]).toMatchObject({ id: "ada", first_name: "Alan" });
    });

    it.each([
      ["subscribed", "SUBSCRIBED"],
      ["unsubscribed", "UNSUBSCRIBED"],
      ["pending", "PENDING"],
    ])("the email status %s is email_opt_in %s", async (status, stored) => {
      await post(CONTACTS, v2Contact({ identifiers: [emailIdentifier("ada@example.com", status)] }));

      expect(contact("ada@example.com")?.email_opt_in).toBe(stored);
    });

    it("with both kinds of identifier each channel has its own status", async () => {
      const identifiers = [
        emailIdentifier("alan@example.com", "unsubscribed"),
        phoneIdentifier(391_234_567, "subscribed"),
      ];
      await post(CONTACTS, v2Contact({ identifiers }));

      expect(contact("alan@example.com")).toMatchObject({
        phone: "391234567",
        email_opt_in: "UNSUBSCRIBED",
        phone_opt_in: "SUBSCRIBED",
      });
    });

    it("with both kinds of identifier empty channels are accepted, and keep the statuses", async () => {
      const identifiers = [
        { ...emailIdentifier("ada@example.com"), channels: {} },
        { ...phoneIdentifier("+390111111"), channels: {} },
      ];
      const { status } = await post(CONTACTS, v2Contact({ identifiers }));

      expect(status).toBe(200);
      expect(contact("ada@example.com")?.email_opt_in).toBe("UNSUBSCRIBED");
    });

    it("a phone of no contact is a 400, because a new contact needs an email", async () => {
      const { status, body } = await post(CONTACTS, v2Contact({ identifiers: [phoneIdentifier("7654321")] }));

      expect(status).toBe(400);
      expect(body).toMatchObject({ status: "error", message: anyString });
      expect(JSON.stringify(body)).toContain("email");
      expect(state().contacts).toHaveLength(2);
    });

    it.each([
      [true, 1],
      [false, 0],
      [undefined, 0],
    ])("triggerWelcomeEmail %s sends %i mails", async (triggerWelcomeEmail, mails) => {
      await post(CONTACTS, v2Contact({ triggerWelcomeEmail }));

      expect(state().welcomeEmails).toHaveLength(mails);
    });

    it("sends no welcome mail where no flow is configured", async () => {
      const headers = { "service-api-key": "globex-key", "service-app-id": "globex-app" };
      await open.call(CONTACTS, { body: v2Contact({ triggerWelcomeEmail: true }), headers });

      expect(open.mock.organization("globex").welcomeEmails).toEqual([]);
    });

    it.each<[string, Record<string, unknown>]>([
      ["firstName missing", { firstName: undefined }],
      ["listIds missing", { listIds: undefined }],
      ["listIds with a number", { listIds: [7] }],
      ["identifiers missing", { identifiers: undefined }],
      ["no identifier", { identifiers: [] }],
      ["an identifier without type", { identifiers: [{ ...emailIdentifier("a@b.c"), type: undefined }] }],
      ["an identifier of another type", { identifiers: [{ ...emailIdentifier("a@b.c"), type: "fax" }] }],
      ["an identifier without id", { identifiers: [{ ...emailIdentifier("a@b.c"), id: undefined }] }],
      ["an identifier whose id is true", { identifiers: [emailIdentifier(true)] }],
      ["an email identifier with an invalid address", { identifiers: [emailIdentifier("alan")] }],
      ["no channels", { identifiers: [{ ...emailIdentifier("a@b.c"), channels: undefined }] }],
      ["no consent", { identifiers: [{ ...emailIdentifier("a@b.c"), consent: undefined }] }],
      [
        "consent without createdAt",
        { identifiers: [{ ...emailIdentifier("a@b.c"), consent: { ...consent, createdAt: undefined } }] },
      ],
      [
        "consent with a day only",
        { identifiers: [{ ...emailIdentifier("a@b.c"), consent: { ...consent, createdAt: "2026-01-31" } }] },
      ],
      [
        "consent without ip",
        { identifiers: [{ ...emailIdentifier("a@b.c"), consent: { ...consent, ip: undefined } }] },
      ],
      [
        "consent with a host name as ip",
        { identifiers: [{ ...emailIdentifier("a@b.c"), consent: { ...consent, ip: "localhost" } }] },
      ],
      [
        "consent without source",
        { identifiers: [{ ...emailIdentifier("a@b.c"), consent: { ...consent, source: undefined } }] },
      ],
      [
        "a channel without status",
        { identifiers: [{ ...emailIdentifier("a@b.c"), channels: { email: {} } }] },
      ],
      [
        "an email without the email channel",
        { identifiers: [{ ...emailIdentifier("a@b.c"), channels: { phone: { status: "subscribed" } } }] },
      ],
      [
        "a phone without the phone channel",
        {
          identifiers: [{ ...phoneIdentifier("+390111111"), channels: { email: { status: "subscribed" } } }],
        },
      ],
      ["countryCode of three letters", { countryCode: "ITA" }],
      ["birthDate that is no real day", { birthDate: "1912-13-01" }],
      ["createdAt that is no date", { createdAt: "yesterday" }],
      ["triggerWelcomeEmail as a string", { triggerWelcomeEmail: "true" }],
      ["lastName null", { lastName: null }],
      ["null in a passed-on field", { loyalty: { points: null } }],
    ])("refuses %s with 400 and the v2 error body", async (_, more) => {
      const { status, body } = await post(CONTACTS, v2Contact(more));

      expect(status).toBe(400);
      expect(body).toEqual({ status: "error", message: anyString });
      expect(state().contacts).toHaveLength(2);
    });
  });

  describe("GET /v2/lists", () => {
    it("returns the lists, no segments, and the totals", async () => {
      const { status, body } = await open.call("/v2/lists");

      expect(status).toBe(200);
      expect(body).toEqual({
        success: true,
        data: {
          lists: [
            { uuid: "news", name: "Newsletter", created_at: 1_700_000_000, description: "Weekly" },
            { uuid: "offers", name: "Offers", created_at: 1_700_000_001 },
          ],
          current_page: 1,
          total_pages: 1,
          total_items: 2,
          items_per_page: 20,
        },
      });
    });

    it("returns the requested page", async () => {
      const { body } = await open.call("/v2/lists?page=2&limit=1");

      expect(body).toMatchObject({
        data: { lists: [{ uuid: "offers" }], current_page: 2, total_pages: 2, items_per_page: 1 },
      });
    });

    it.each(["page=-1", "page=0", "limit=-1", "limit=x"])(
      "%s is a 400 with the v2 error body",
      async (query) => {
        const { status, body } = await open.call(`/v2/lists?${query}`);

        expect(status).toBe(400);
        expect(body).toEqual({ status: "error", message: anyString });
      },
    );
  });

  it.each([
    ["GET", "/api/v1/customer/create/x"],
    ["GET", "/api/v1/nothing"],
    ["DELETE", "/api/v1/customer/ada"],
    ["GET", "/v2/contacts"],
    ["GET", "/v2/lists/news"],
  ])("%s %s is no endpoint: 404", async (method, path) => {
    const { status } = await open.call(path, { method });

    expect(status).toBe(404);
    expect(open.mock.requests).toMatchObject([{ operation: undefined, method, path, status: 404 }]);
  });

  it("logs the requests in order", async () => {
    await post(CREATE, { email: "new@example.com" });
    await open.call("/api/v1/customer?page=2", { headers: { "x-trace": "7" } });

    expect(open.mock.requests).toMatchObject([
      {
        operation: "v1.customers.upsert",
        method: "POST",
        path: CREATE,
        headers: { "x-api-key": "acme-key", "content-type": "application/json" },
        body: { email: "new@example.com" },
        status: 201,
        applied: true,
      },
      {
        operation: "v1.customers.list",
        method: "GET",
        query: { page: "2" },
        headers: { "x-trace": "7" },
        status: 200,
        applied: false,
      },
    ]);
    expect(open.mock.requests[1]?.body).toBeUndefined();
  });

  it("reset restores the seed", async () => {
    const { requests } = open.mock;
    await post(CREATE, { email: "new@example.com" });
    open.mock.addFault({ kind: "500-before" });
    open.mock.reset();

    expect(state().contacts.map(({ id }) => id)).toEqual(["ada", "grace"]);
    expect(requests).toEqual([]);
    expect((await open.call("/api/v1/customer")).status).toBe(200);
  });

  it("the state is a copy", () => {
    const [first] = state().contacts;
    if (first) first.email = "changed@example.com";

    expect(state().contacts[0]?.email).toBe("ada@example.com");
  });
});
