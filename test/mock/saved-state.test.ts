// Reaches into src: the command alone listens to the record and saves the state, in a process of its own.
import { existsSync, readFileSync, rmSync, statSync } from "node:fs";
import type { MockOrganizationState } from "audience-sdk/mock";
import { describe, expect, it } from "vitest";
import { createMock } from "../../src/mock/mock-service.ts";
import { restoreState, saveState } from "../../src/mock/state/saved-state.ts";
import { DEFAULT_ORGANIZATION } from "../../src/mock/state/seed.ts";
import { eventually } from "../eventually.ts";
import { KEY, MockCommand, post, stateOf, stop } from "./mock-command.ts";

const ada = { email: "ada@example.com", email_opt_in: "SUBSCRIBED" };
const grace = { email: "grace@example.com", email_opt_in: "UNSUBSCRIBED" };
const CREATE = "/api/v1/customer/create";
const ADD = "/api/v1/contact-groups/mock-list/contacts";
const EVENTS = "/api/v1/events";
const order = { eventName: "order placed", uniqueIdentifier: "order-1", contact: { email: ada.email } };

function open(options: Parameters<typeof createMock>[0] = {}) {
  const { service, state } = createMock(options);
  const send = (path: string, body: unknown) =>
    service.fetch(service.clientOptions.baseUrl + path, {
      method: "POST",
      headers: { ...KEY, "x-api-key": service.clientOptions.apiKey },
      body: JSON.stringify(body),
    });
  const save = () => saveState(state().organizations);
  const restore = (saved: string) => restoreState(state().organizations, saved);
  return { service, send, save, restore };
}

/** A mock with Ada on a list, and two orders of hers, of which one has an id. Each starts an automation. */
async function filled() {
  const automations = [{ name: "Thanks", on: { event: order.eventName } }];
  const mock = open({ organizations: [{ ...DEFAULT_ORGANIZATION, automations }] });
  await mock.send(ADD, ada);
  await mock.send(EVENTS, order);
  await mock.send(EVENTS, { ...order, uniqueIdentifier: undefined });
  return mock;
}

it("A saved state is the same after it was restored, also beside people, lists and organizations that are new", async () => {
  const mock = await filled();
  const lists = [{ id: "new", name: "New", created_at: 1 }];
  const other = open({
    organizations: [
      { id: "mock-organization", apiKeys: ["k"], appId: "a", lists, contacts: [{ email: grace.email }] },
      { id: "acme", apiKeys: ["acme-key"], appId: "acme-app", contacts: [{ email: grace.email }] },
    ],
  });
  other.restore(mock.save());
  const { groups, contacts, consentHistory, ...state } = mock.service.organization("mock-organization");
  const restored = other.service.organization("mock-organization");

  expect(restored).toMatchObject(state);
  const isNew = { email: grace.email };
  expect(restored.contacts).toEqual([...contacts, expect.objectContaining(isNew)]);
  expect(restored.consentHistory).toEqual([...consentHistory, expect.objectContaining(isNew)]);
  expect(restored.automationRuns.map(({ eventId }) => eventId)).toEqual(state.events.map(({ id }) => id));
  expect(restored.groups).toEqual([{ type: "LIST", ...lists[0] }, ...groups]);
  expect(other.service.organization("acme").contacts).toHaveLength(1);
});

const seededWith = (...emails: string[]) => {
  const contacts = emails.map((email) => ({ email, email_opt_in: "SUBSCRIBED" }));
  return open({ organizations: [{ ...DEFAULT_ORGANIZATION, contacts }] });
};

it("Of a seed beside a saved state only people are taken in of whom the state knows no address, number or id, also none of before", async () => {
  const before = seededWith("ada@example.com", "bob@old.example.com");
  before.service.unsubscribe("ada@example.com");
  const phone = "+41441234567";
  await before.send(CREATE, { email: "bob@old.example.com", phone });
  await before.send(CREATE, { email: "bob@new.example.com", phone });
  const { contacts } = before.service.organization("mock-organization");
  const after = seededWith("ada@example.com", "bob@old.example.com", "linus@example.com");
  after.restore(before.save());
  const restored = after.service.organization("mock-organization").contacts;

  expect(contacts.map(({ email, email_opt_in }) => [email, email_opt_in])).toEqual([
    ["ada@example.com", "UNSUBSCRIBED"],
    ["bob@new.example.com", "SUBSCRIBED"],
  ]);
  expect(restored).toEqual([...contacts, expect.objectContaining({ email: "linus@example.com" })]);
});

it("No id is given twice over restarts, also with fewer people in the seed", async () => {
  const first = seededWith("ada@example.com", "grace@example.com");
  const second = seededWith("ada@example.com", "grace@example.com");
  second.restore(first.save());
  await second.send(CREATE, { email: "bob@example.com" });
  const third = open();
  third.restore(second.save());
  for (const name of ["a", "b", "c", "d"]) await third.send(CREATE, { email: `${name}@example.com` });

  const ids = third.service.organization("mock-organization").contacts.map(({ id }) => id);
  expect([ids.length, new Set(ids).size]).toEqual([7, 7]);
});

it("A saved state keeps resubscriptions, refusals that stand, and who has asked again", async () => {
  const mock = await filled();
  await mock.send(CREATE, grace);
  mock.service.unsubscribe(ada.email);
  await mock.send(CREATE, { ...ada, email_opt_in: "NON_SUBSCRIBED" });
  mock.service.asksAgain(grace.email);
  const { service, send, restore, save } = open();
  restore(mock.save());

  expect(service.resubscriptions).toEqual(mock.service.resubscriptions);
  await send(CREATE, { ...grace, email_opt_in: "SUBSCRIBED" });
  await send(CREATE, ada);
  expect(service.resubscriptions.map(({ email, to }) => [email, to])).toEqual([
    [ada.email, "NON_SUBSCRIBED"],
    [ada.email, "SUBSCRIBED"],
  ]);
  const again = open();
  again.restore(save());
  expect(again.service.resubscriptions).toEqual(service.resubscriptions);
});

const mockCommand = new MockCommand();

const contactsIn = (file: string): unknown[] => {
  const { organizations } = JSON.parse(readFileSync(file, "utf8")) as {
    organizations: Record<string, MockOrganizationState>;
  };
  return organizations["mock-organization"]?.contacts ?? [];
};

describe("audience-mock --state", () => {
  it("keeps the whole state over restarts by SIGTERM and SIGINT, and goes on where it was", async () => {
    const file = mockCommand.path("state.json");
    const first = await mockCommand.serveByProcess("--state", file);
    await post(first.url, ADD, ada);
    await post(first.url, EVENTS, order);
    await post(first.url, "/__mock/unsubscribe", { person: ada.email });
    await post(first.url, "/__mock/faults", { kind: "500-before" });
    expect((await post(first.url, ADD, ada)).status).toBe(500);
    const before = await stateOf(first.url);
    expect(await stop(first, "SIGTERM")).toBe(0);

    const second = await mockCommand.serveByProcess("--state", file);
    expect(await stateOf(second.url)).toEqual(before);
    expect([before.memberships.length, before.events.length, before.consentHistory.length]).toEqual([
      1, 1, 2,
    ]);
    // Faults and requests begin anew; no event, trigger or id is given twice.
    expect(await (await fetch(`${second.url}/__mock/requests`)).json()).toEqual([]);
    for (const [path, body] of [
      [EVENTS, order],
      [ADD, ada],
      [ADD, { email: "grace@example.com" }],
    ] as const)
      expect((await post(second.url, path, body)).status).toBe(200);
    const { contacts, events, triggers } = await stateOf(second.url);
    expect([events.length, triggers.length, contacts.length]).toEqual([1, 2, 2]);
    expect(new Set([...contacts, ...events].map(({ id }) => id)).size).toBe(3);
    expect(await stop(second, "SIGINT")).toBe(0);

    // As of a terminal that is closed.
    const third = await mockCommand.serveByProcess("--state", file);
    expect((await stateOf(third.url)).contacts).toEqual(contacts);
    expect(await stop(third, "SIGHUP")).toBe(0);
  });

  it("is written soon after each change, by a request, a reset or a person, and for its owner alone", async () => {
    const file = mockCommand.path("state.json");
    const first = await mockCommand.serveByProcess("--state", file);
    await post(first.url, ADD, ada);
    await eventually(() => expect(contactsIn(file)).toHaveLength(1));
    await post(first.url, "/__mock/reset", {});
    await eventually(() => expect(contactsIn(file)).toEqual([]));
    await post(first.url, ADD, ada);
    await eventually(() => expect(contactsIn(file)).toHaveLength(1));
    await post(first.url, "/__mock/unsubscribe", { person: ada.email });
    await eventually(() => expect(contactsIn(file)).toMatchObject([{ email_opt_in: "UNSUBSCRIBED" }]));
    await post(first.url, "/__mock/asks-again", { person: ada.email });
    await eventually(() => expect(readFileSync(file, "utf8")).toContain('"refuses":false'));
    await stop(first, "SIGKILL");
    // Else the next one waits for it.
    rmSync(`${file}.lock`);
    const second = await mockCommand.serve("--state", file);

    expect((await stateOf(second.url)).contacts).toMatchObject([{ email: ada.email }]);
    if (process.platform !== "win32") expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it("ends with the exit code 1 where its last change could not be saved", async () => {
    const file = mockCommand.path("state.json");
    const served = await mockCommand.serveByProcess("--state", file);
    rmSync(`${file}.lock`);
    await post(served.url, ADD, ada);

    expect(await stop(served)).toBe(1);

    expect(served.errors()).toContain("not saved: another audience-mock has taken over the file");
    expect(contactsIn(file)).toEqual([]);
  });

  it.each<[string, RegExp | string, string, string]>([
    ["one that was cut off", /.{20}$/, "", "JSON"],
    ["another file", /.*/, '{"name":"audience-sdk"}', "the saved state.format is required"],
    ["one of a later version", '"version":1', '"version":2', "must be 1"],
    ["an unknown organization", '"mock-organization":', '"acme":', "the seed has none of this id"],
    ["a missing contact", /"contacts":\[\{.*?\}\]/, '"contacts":[]', "a row of memberships names a contact"],
    ["a wrong id", /"events":\[\{"id":"[^"]+"/, '"events":[{"id":1', "events[0].id must be a string"],
    ["a field that is missing", '"email_opt_in"', '"email_optin"', "contacts[0].email_opt_in is required"],
  ])("a damaged file is refused with the way out, and untouched: %s", async (_, found, put, message) => {
    const damaged = (await filled()).save().replace(found, put);
    const file = await mockCommand.write("state.json", damaged);
    const { code, errors } = await mockCommand.run("--port", "0", "--state", file);

    expect(code).toBe(1);
    expect(errors).toContain(`--state ${file}: `);
    expect(errors).toContain(message);
    expect(errors).toContain("The file is untouched.");
    expect(errors).not.toMatch(/^\s+at /m);
    expect(readFileSync(file, "utf8")).toBe(damaged);
  });

  it("a second mock of one file is refused, and the first goes on", async () => {
    const file = mockCommand.path("state.json");
    const first = await mockCommand.serveByProcess("--state", file);
    const { code, errors } = await mockCommand.run("--port", "0", "--state", file);
    await post(first.url, ADD, ada);
    await stop(first);

    expect(code).toBe(1);
    expect(errors).toContain(`--state ${file}: another audience-mock keeps its state there`);
    expect(contactsIn(file)).toHaveLength(1);
    expect(existsSync(`${file}.lock`)).toBe(false);
  });
});
