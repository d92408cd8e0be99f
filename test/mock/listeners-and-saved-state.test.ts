// Reaches into src: the command alone listens to the record and saves the state, in a process of its own.
import type { MockRequest } from "audience-sdk/mock";
import { expect, it } from "vitest";
import { createMock } from "../../src/mock/mock-service.ts";
import { describeChange } from "../../src/mock/state/changes.ts";
import { restoreState, saveState } from "../../src/mock/state/saved-state.ts";

const ada = { email: "ada@example.com", email_opt_in: "SUBSCRIBED" };
const grace = { email: "grace@example.com", email_opt_in: "UNSUBSCRIBED" };
const CREATE = "/api/v1/customer/create";
const ADD = "/api/v1/contact-groups/mock-list/contacts";
const EVENTS = "/api/v1/events";
const order = { eventName: "order placed", uniqueIdentifier: "order-1", contact: { email: ada.email } };

function open(options: Parameters<typeof createMock>[0] = {}) {
  const { service, log, state } = createMock(options);
  const headers = { "x-api-key": service.clientOptions.apiKey, "content-type": "application/json" };
  const post = (path: string, body: unknown) =>
    service.fetch(service.clientOptions.baseUrl + path, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
  const save = () => saveState(state().organizations);
  const restore = (saved: string) => restoreState(state().organizations, saved);
  return { service, log, post, save, restore };
}

/** A mock with Ada on a list, and two orders of hers, of which one has an id. */
async function filled() {
  const mock = open();
  await mock.post(ADD, ada);
  await mock.post(EVENTS, order);
  await mock.post(EVENTS, { ...order, uniqueIdentifier: undefined });
  return mock;
}

it("A listener hears of each request that ends, and what it changed, until nobody listens any more", async () => {
  const { log, post } = open();
  const ended: { entry: MockRequest; changes: string[] }[] = [];
  const stop = log.onEnd((entry, changes) => ended.push({ entry, changes: changes.map(describeChange) }));
  await post(CREATE, { email: ada.email });
  stop();
  await post(CREATE, { email: ada.email, city: "Rome" });

  const changes = [`${ada.email}: created`, `${ada.email}: email NON_SUBSCRIBED`];
  expect(ended).toMatchObject([{ entry: { status: 201 }, changes }]);
});

it("A listener hears of each change of the state: by a request, a person, a fault and a reset", async () => {
  const { log, post, service } = open();
  let changes = 0;
  const stop = log.onChange(() => (changes += 1));
  const heard = async (act: () => unknown) => {
    const before = changes;
    await act();
    return changes > before;
  };

  expect(await heard(() => post(CREATE, {}))).toBe(false);
  expect(await heard(() => post(CREATE, ada))).toBe(true);
  expect(await heard(() => service.unsubscribe(ada.email))).toBe(true);
  expect(await heard(() => service.addFault({ kind: "500-before" }))).toBe(true);
  expect(await heard(() => service.reset())).toBe(true);
  stop();
  expect(await heard(() => service.reset())).toBe(false);
});

it("A saved state is the same after it was restored, also beside lists and organizations that are new", async () => {
  const mock = await filled();
  const lists = [{ id: "new", name: "New", created_at: 1 }];
  const other = open({
    organizations: [
      { id: "mock-organization", apiKeys: ["k"], appId: "a", lists, contacts: [{ email: grace.email }] },
      { id: "acme", apiKeys: ["acme-key"], appId: "acme-app", contacts: [{ email: grace.email }] },
    ],
  });
  other.restore(mock.save());
  const { groups, ...state } = mock.service.organization("mock-organization");
  const restored = other.service.organization("mock-organization");

  expect(restored).toMatchObject(state);
  expect(restored.groups).toEqual([{ type: "LIST", ...lists[0] }, ...groups]);
  expect(other.service.organization("acme").contacts).toHaveLength(1);
});

it("A saved state keeps resubscriptions, refusals that stand, and who has asked again", async () => {
  const mock = await filled();
  await mock.post(CREATE, grace);
  mock.service.unsubscribe(ada.email);
  await mock.post(CREATE, { ...ada, email_opt_in: "NON_SUBSCRIBED" });
  mock.service.asksAgain(grace.email);
  const { service, post, restore, save } = open();
  restore(mock.save());

  expect(service.resubscriptions).toEqual(mock.service.resubscriptions);
  await post(CREATE, { ...grace, email_opt_in: "SUBSCRIBED" });
  await post(CREATE, ada);
  expect(service.resubscriptions.map(({ email, to }) => [email, to])).toEqual([
    [ada.email, "NON_SUBSCRIBED"],
    [ada.email, "SUBSCRIBED"],
  ]);
  const again = open();
  again.restore(save());
  expect(again.service.resubscriptions).toEqual(service.resubscriptions);
});

it.each<[string, RegExp | string, string, string]>([
  [
    "an organization that the seed has not",
    '"mock-organization":',
    '"acme":',
    "the seed has none of this id",
  ],
  [
    "a contact that is missing",
    /"contacts":\[\{.*?\}\]/,
    '"contacts":[]',
    "a row of memberships names a contact",
  ],
  [
    "an id that is no string",
    /"events":\[\{"id":"[^"]+"/,
    '"events":[{"id":1',
    "events[0].id must be a string",
  ],
  ["a field that is missing", '"email_opt_in"', '"email_optin"', "contacts[0].email_opt_in is required"],
])("A saved state with %s is refused, and nothing of it taken over", async (_, found, put, message) => {
  const { post, restore, save, service } = await filled();
  const damaged = save().replace(found, put);
  await post(ADD, { email: grace.email });
  const before = service.organization("mock-organization");

  expect(() => restore(damaged)).toThrow(message);
  expect(service.organization("mock-organization")).toEqual(before);
});
