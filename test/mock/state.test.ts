import {
  createMockService,
  type MockContactSeed,
  type MockOrganizationSeed,
  type MockVariants,
} from "audience-sdk/mock";
import { expect, it } from "vitest";
import { acme as documented } from "../document/service.ts";
import { inProcess } from "./entry-points.ts";

const CREATE = "/api/v1/customer/create";
const EVENTS = "/api/v1/events";

const acme: MockOrganizationSeed = {
  ...documented,
  lists: [{ id: "news", name: "News" }],
  automations: [
    { name: "Thanks", on: { event: "news" } },
    { name: "Hello", on: { listId: "news" } },
  ],
};
const seconds = (count: number) => new Date(count * 1_000).toISOString();

/** A mock whose clock advances one second with each call. */
async function open(variants: Partial<MockVariants> = {}, contacts: MockOrganizationSeed["contacts"] = []) {
  let now = 100_000;
  const organizations = [{ ...acme, contacts }];
  const { call, mock } = await inProcess.open({ organizations, variants, clock: () => now });
  const post = async (path: string, body: unknown): Promise<number> => {
    now += 1_000;
    return (await call(path, { body })).status;
  };
  return { post, mock, state: () => mock.organization("acme") };
}

it("An address and a number that a contact no longer has can be used again", async () => {
  const { post, state } = await open({}, [{ email: "ada@example.com", phone: "1111111" }]);
  await post(CREATE, { phone: "1111111", email: "augusta@example.com" });
  await post(CREATE, { email: "augusta@example.com", phone: "2222222" });
  await post(CREATE, { email: "ada@example.com" });
  await post(CREATE, { phone: "1111111" });

  expect(state().contacts).toMatchObject([
    { email: "augusta@example.com", phone: "2222222" },
    { email: "ada@example.com" },
    { phone: "1111111" },
  ]);
});

it("reset() restores the seed, and ends the log and the faults; the state is a copy", async () => {
  const { post, mock, state } = await open({}, [{ id: "ada", email: "ada@example.com" }]);
  const { requests } = mock;
  await post(CREATE, { email: "new@example.com" });
  mock.addFault({ kind: "500-before" });
  mock.reset();
  const [first] = state().contacts;
  if (first) first.email = "changed@example.com";

  expect(state().contacts).toMatchObject([{ id: "ada", email: "ada@example.com" }]);
  expect(requests).toEqual([]);
  expect(await post(CREATE, { email: "ada@example.com" })).toBe(201);
});

it("An automation run after joining a list has the time of the joining", async () => {
  const { post, state } = await open();
  await post("/api/v1/contact-groups/news/contacts", { email: "ada@example.com" });
  const { contacts, memberships, triggers, automationRuns } = state();
  const contactId = contacts[0]?.id;

  expect(memberships).toStrictEqual([{ listId: "news", contactId, joinedAt: seconds(101) }]);
  expect(triggers).toStrictEqual([
    { name: "subscribed to list", contactId, listId: "news", firedAt: seconds(101) },
  ]);
  expect(automationRuns).toStrictEqual([
    { automation: "Hello", contactId, on: { listId: "news" }, startedAt: seconds(101) },
  ]);
});

it("An event contains only the sent fields; without a uniqueIdentifier each event is recorded", async () => {
  const { post, state } = await open();
  await post(EVENTS, { eventName: "news", contact: { email: "ada@example.com" } });
  const [contact] = state().contacts;
  await post(EVENTS, { eventName: "seen", contactUUID: contact?.id, uniqueIdentifier: "1", eventData: {} });
  await post(EVENTS, { eventName: "seen", contactUUID: contact?.id });
  const { events, automationRuns } = state();
  const of = { id: expect.any(String) as unknown, contactId: contact?.id };

  expect(events).toStrictEqual([
    { ...of, eventName: "news", contact: { email: "ada@example.com" }, recordedAt: seconds(101) },
    { ...of, eventName: "seen", uniqueIdentifier: "1", eventData: {}, recordedAt: seconds(102) },
    { ...of, eventName: "seen", recordedAt: seconds(103) },
  ]);
  expect(new Set(events.map(({ id }) => id)).size).toBe(3);
  expect(automationRuns.map(({ automation }) => automation)).toEqual(["Thanks"]);
});

const seeded = (contacts: MockContactSeed[], more: object = {}) =>
  createMockService({ organizations: [{ ...acme, contacts }], clock: () => 0, ...more });

it("The default organization has a list, a segment and keys that are recognizable as the mock's", () => {
  const { clientOptions, organization } = createMockService();

  expect(clientOptions).toMatchObject({ apiKey: "mock-api-key-not-a-secret", appId: "mock-app-id" });
  expect(clientOptions.rateLimiter).toBe(false);
  expect(organization(clientOptions.apiKey).groups.map(({ id, type }) => [id, type])).toEqual([
    ["mock-list", "LIST"],
    ["mock-segment", "SEGMENT"],
  ]);
});

it("A seed is stored by the rules of a v1 write, and fires no trigger", () => {
  const custom_properties = { seats: 3, blank: " " };
  const ada = { email: "ada@example.com", country: "Italy", custom_properties, lists: ["news"] };
  const { contacts, memberships, triggers } = seeded([ada]).organization("acme");

  expect(contacts).toMatchObject([
    { email: ada.email, email_opt_in: "NON_SUBSCRIBED", country: "IT", created: seconds(0) },
  ]);
  expect(contacts[0]?.custom_properties).toEqual({ seats: "3" });
  expect(memberships).toEqual([{ listId: "news", contactId: contacts[0]?.id, joinedAt: seconds(0) }]);
  expect(triggers).toEqual([]);
});

it("A seed may contain ids and times, and fields that are undefined, which have their defaults", () => {
  const known = { id: "ada", phone: "1234567", created: seconds(1), updated: seconds(2) };
  const { contacts } = seeded([{ ...known, source: undefined, is_suppressed: undefined }]).organization(
    "acme",
  );

  expect(contacts).toMatchObject([{ ...known, source: "api", is_suppressed: false }]);
});

it("A number as the seed leads to the same ids, and another to others", () => {
  const idsOf = (seed: number) =>
    seeded([{ email: "a@example.com" }, { email: "b@example.com" }], { seed })
      .organization("acme")
      .contacts.map(({ id }) => id);

  expect(idsOf(7)).toEqual(idsOf(7));
  expect(new Set([...idsOf(7), ...idsOf(8)]).size).toBe(4);
  expect(idsOf(7)[0]).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-8[\da-f]{3}-[\da-f]{12}$/);
});
