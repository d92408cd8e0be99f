// Reaches into src: the command alone listens to the record and saves the state, in a process of its own.
import type { MockRequest } from "audience-sdk/mock";
import { describe, expect, it } from "vitest";
import { createMock } from "../../src/mock/mock-service.ts";
import { describeChange } from "../../src/mock/state/changes.ts";
import { restoreState, saveState } from "../../src/mock/state/saved-state.ts";

const acme = {
  id: "acme",
  apiKeys: ["acme-key"],
  appId: "acme-app",
  contacts: [{ email: "ada@example.com" }],
  automations: [
    { name: "Thanks", on: { event: "order placed" }, webhook: { url: "http://localhost:3000/hooks" } },
  ],
};
const email = "ada@example.com";
const create = "/api/v1/customer/create";

/** A mock, and what its record tells of each request that ends. */
function recorded(options: Parameters<typeof createMock>[0] = {}) {
  const { service, log, state } = createMock({
    organizations: [acme],
    webhookFetch: () => Promise.resolve(new Response(null, { status: 204 })),
    ...options,
  });
  const ended: { entry: MockRequest; changes: string[] }[] = [];
  const stop = log.onEnd((entry, changes) => ended.push({ entry, changes: changes.map(describeChange) }));
  const headers = {
    "x-api-key": "acme-key",
    "service-api-key": "acme-key",
    "service-app-id": "acme-app",
    "content-type": "application/json",
  };
  const post = (path: string, body: unknown) => {
    const origin = path.startsWith("/v2/") ? service.clientOptions.baseUrlV2 : service.clientOptions.baseUrl;
    return service.fetch(origin + path, { method: "POST", headers, body: JSON.stringify(body) });
  };
  return { service, log, state, ended, stop, post };
}

describe("A listener hears of each request that ends", () => {
  it("and what it changed", async () => {
    const { ended, post } = recorded();
    await post(create, { email, city: "Rome" });

    expect(ended).toMatchObject([{ entry: { status: 201 }, changes: [`${email}: changed city`] }]);
  });

  it("until nobody listens any more", async () => {
    const { ended, post, stop } = recorded();
    stop();
    await post(create, { email });

    expect(ended).toEqual([]);
  });
});

describe("Listeners hear of each change of the state", () => {
  it("by a request, a webhook call, a person, a fault and a reset", async () => {
    let answer: (response: Response) => void = () => undefined;
    const webhookFetch = () => new Promise<Response>((resolve) => (answer = resolve));
    const { service, log, post } = recorded({ webhookFetch });
    let changes = 0;
    const stop = log.onChange(() => (changes += 1));
    const heard = async (act: () => unknown) => {
      const [before, version] = [changes, log.version];
      await act();
      expect(log.version > version).toBe(true);
      return changes > before;
    };

    expect(await heard(() => post("/v2/lists", {}))).toBe(false);
    expect(await heard(() => post(create, { email, city: "Rome" }))).toBe(true);
    expect(await heard(() => service.unsubscribe(email))).toBe(true);
    expect(await heard(() => service.addFault({ kind: "500-before" }))).toBe(true);
    expect(await heard(() => service.reset())).toBe(true);
    await post("/api/v1/events", { eventName: "order placed", contact: { email } });

    expect(
      await heard(() => {
        answer(new Response(null, { status: 204 }));
        return service.settled();
      }),
    ).toBe(true);
    stop();
    service.reset();
    expect(log.records).toEqual([]);
  });
});

const KEY = { "x-api-key": "mock-api-key-not-a-secret", "content-type": "application/json" };
const ada = { email: "ada@example.com", email_opt_in: "SUBSCRIBED" };
const event = { eventName: "order placed", uniqueIdentifier: "order-1", contact: { email: ada.email } };
const ADD = "/api/v1/contact-groups/mock-list/contacts";

describe("A saved state", () => {
  const filled = async () => {
    const mock = createMock({});
    const send = (path: string, body: unknown) =>
      mock.service.fetch(`https://audience-mock.example${path}`, {
        method: "POST",
        headers: KEY,
        body: JSON.stringify(body),
      });
    await send(ADD, ada);
    await send("/api/v1/events", event);
    await send("/api/v1/events", { ...event, uniqueIdentifier: undefined });
    return { mock, send };
  };

  it("is the same after it was restored, also beside lists and organizations that are new", async () => {
    const { mock } = await filled();
    const organization = { id: "mock-organization", apiKeys: ["k"], appId: "a" };
    const lists = [{ id: "new", name: "New", created_at: 1 }];
    const other = createMock({
      organizations: [
        { ...organization, lists, contacts: [{ email: "grace@example.com" }] },
        { id: "acme", apiKeys: ["acme-key"], appId: "acme-app", contacts: [{ email: "grace@example.com" }] },
      ],
    });
    restoreState(other.state().organizations, saveState(mock.state().organizations));
    const { groups, ...state } = mock.service.organization("mock-organization");
    const restored = other.service.organization("mock-organization");

    expect(restored).toMatchObject(state);
    expect(restored.groups).toEqual([{ type: "LIST", ...lists[0] }, ...groups]);
    expect(other.service.organization("acme").contacts).toHaveLength(1);
  });

  it("keeps resubscriptions, refusals that stand, and who has asked again", async () => {
    const { mock, send } = await filled();
    const grace = { email: "grace@example.com", email_opt_in: "UNSUBSCRIBED" };
    await send(create, grace);
    mock.service.unsubscribe(ada.email);
    await send(create, { ...ada, email_opt_in: "NON_SUBSCRIBED" });
    mock.service.asksAgain(grace.email);
    const restored = createMock({});
    restoreState(restored.state().organizations, saveState(mock.state().organizations));
    const { service } = restored;

    expect(service.resubscriptions).toEqual(mock.service.resubscriptions);
    const sendAgain = (body: unknown) =>
      service.fetch(`https://audience-mock.example${create}`, {
        method: "POST",
        headers: KEY,
        body: JSON.stringify(body),
      });
    await sendAgain({ ...grace, email_opt_in: "SUBSCRIBED" });
    await sendAgain(ada);
    expect(service.resubscriptions.map(({ email: person, to }) => [person, to])).toEqual([
      [ada.email, "NON_SUBSCRIBED"],
      [ada.email, "SUBSCRIBED"],
    ]);
    const again = createMock({});
    restoreState(again.state().organizations, saveState(restored.state().organizations));
    expect(again.service.resubscriptions).toEqual(service.resubscriptions);
  });

  it("is taken over as a whole or not at all", async () => {
    const { mock, send } = await filled();
    const saved = saveState(mock.state().organizations).replace(
      /"events":\[\{"id":"[^"]+"/,
      '"events":[{"id":1',
    );
    await send(ADD, { email: "grace@example.com" });
    const before = mock.service.organization("mock-organization");

    expect(() => restoreState(mock.state().organizations, saved)).toThrow("events[0].id must be a string");
    expect(mock.service.organization("mock-organization")).toEqual(before);
  });

  it("with an organization or a contact that is missing is refused", async () => {
    const { mock } = await filled();
    const saved = saveState(mock.state().organizations);
    const { organizations } = mock.state();

    const renamed = saved.replace('"mock-organization":', '"acme":');
    expect(() => restoreState(organizations, renamed)).toThrow("the seed has none of this id");
    const emptied = saved.replace(/"contacts":\[\{.*?\}\]/, '"contacts":[]');
    expect(() => restoreState(organizations, emptied)).toThrow("a row of memberships names a contact");
  });
});
