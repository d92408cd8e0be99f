import { AudienceClient, UnexpectedResponseError } from "audience-sdk";
import { describe, expect, it } from "vitest";
import { offline } from "../fuzz/offline-client.ts";
import { failureOf } from "./failure.ts";

const contact = { email: "ada@example.com", email_opt_in: "SUBSCRIBED" } as const;
const attributes = { email: contact.email };

const clientFor = (body: unknown) =>
  new AudienceClient({ ...offline, fetch: async () => Response.json(body) });
const clientForBytes = (body: string | Uint8Array<ArrayBuffer>) =>
  new AudienceClient({ ...offline, fetch: async () => new Response(body) });

// PHP writes an empty object as an empty array.
it("An empty array in place of attributes, relationships or links is an empty object of the resource", async () => {
  const data = { type: "profile", id: "c-1", attributes: [], relationships: [], links: [] };

  const profile = await clientFor({ data }).v1.customers.get("c-1");

  expect(profile).toEqual({ type: "profile", id: "c-1", attributes: {}, relationships: [], links: [] });
});

it("A contact outside of the documented envelope is no response to upsert and get", async () => {
  const { v1 } = clientFor({ id: 4711, email: contact.email });

  await expect(v1.customers.upsert(contact)).rejects.toThrow("data: required: an object");
});

describe("In an envelope with an id beside its data, the documented data.id counts", () => {
  const envelope = {
    data: { type: "profile", id: "ada", attributes },
    links: { self: "/ada" },
    id: "request-77",
  };

  it.each(["request-77", 77])("of a contact (%j)", async (id) => {
    const { v1 } = clientFor({ ...envelope, id });

    await expect(v1.customers.get("ada")).resolves.toEqual({
      type: "profile",
      id: "ada",
      attributes,
      links: { self: "/ada" },
    });
  });

  it("of a list or segment", async () => {
    const { v1 } = clientFor({ data: { id: "news", name: "News" }, id: "request-77" });

    await expect(v1.contactGroups.get("news")).resolves.toEqual({ id: "news", name: "News" });
  });

  it("of the items of a list", async () => {
    const { v1 } = clientFor([envelope]);

    await expect(v1.customers.list().toArray()).resolves.toMatchObject([{ id: "ada", attributes }]);
  });

  it("where data.id is unreadable, the other id does not replace it", async () => {
    const { v1 } = clientFor({ ...envelope, data: { id: null, attributes } });

    await expect(v1.customers.get("ada")).rejects.toThrow(UnexpectedResponseError);
  });

  it("but an item with an id, whose data has none, is the contact itself", async () => {
    const { v1 } = clientFor([{ id: "ada", email: contact.email, data: { shoe: 43 } }]);

    await expect(v1.customers.list().toArray()).resolves.toMatchObject([
      { id: "ada", attributes: { email: contact.email, data: { shoe: 43 } } },
    ]);
  });
});

describe("A numeric id becomes a string", () => {
  it("of a contact", async () => {
    const { v1 } = clientFor({ data: { type: "profile", id: 4711, attributes: {} } });

    await expect(v1.customers.upsert(contact)).resolves.toMatchObject({ id: "4711" });
    await expect(v1.customers.get("4711")).resolves.toMatchObject({ id: "4711" });
  });

  it("of a contact that is added to a list", async () => {
    const added = { message: "ok", contact: { email: contact.email, contactUUID: 4711, action: "created" } };
    const { v1 } = clientFor(added);

    await expect(v1.contactGroups.addContact("list-1", contact)).resolves.toEqual({
      ...added,
      contact: { ...added.contact, contactUUID: "4711" },
    });
  });
});

describe("A number that JSON has rounded is no id", () => {
  const id = 2 ** 60;

  it("of a contact", async () => {
    const { v1 } = clientFor({ data: { id } });

    await expect(v1.customers.get("c")).rejects.toThrow(UnexpectedResponseError);
  });

  it("of a contact that is added to a list", async () => {
    const { v1 } = clientFor({ contact: { contactUUID: id, action: "created" } });

    await expect(v1.contactGroups.addContact("list-1", contact)).rejects.toThrow(
      "`contact.contactUUID` of its body is no id",
    );
  });
});

/** `c-ü` from a service that encodes JSON as Latin-1. */
const notUtf8 = (text: string) => new Uint8Array(Buffer.from(text.replace("ID", "c-\u00fc"), "latin1"));
const halfACharacter = (text: string) => text.replace("ID", "c-\\ud800");

// Such an id would name another contact, or could not be sent.
describe.each([
  ["bytes that are invalid UTF-8", notUtf8],
  ["half a character", halfACharacter],
])("An id with %s is refused", (_, mangled) => {
  it.each([
    ["a contact", '{"data":{"id":"ID"}}', (audience: AudienceClient) => audience.v1.customers.get("c")],
    [
      "a contact that was written",
      '{"data":{"id":"ID"}}',
      (audience: AudienceClient) => audience.v1.customers.upsert(contact),
    ],
    ["contacts", '[{"id":"ID"}]', (audience: AudienceClient) => audience.v1.customers.list().then(String)],
    ["a contact group", '{"id":"ID"}', (audience: AudienceClient) => audience.v1.contactGroups.get("g")],
    [
      "a contact that was added",
      '{"contact":{"contactUUID":"ID","action":"created"}}',
      (audience: AudienceClient) => audience.v1.contactGroups.addContact("g", contact),
    ],
    [
      "lists",
      '{"data":{"lists":[{"uuid":"ID"}]}}',
      (audience: AudienceClient) => audience.v2.lists.list().then(String),
    ],
  ])("of %s", async (__, text, call) => {
    const error = await failureOf(call(clientForBytes(mangled(text))));

    expect(error).toBeInstanceOf(UnexpectedResponseError);
    expect(error.outcome).toBe(error.request?.method === "GET" ? "not-applied" : "unknown");
  });

  it("any other field with such bytes is decoded as far as possible", async () => {
    const text = '{"data":{"id":"c-1","attributes":{"first_name":"ID"}}}';

    const profile = await clientForBytes(mangled(text)).v1.customers.get("c-1");

    expect(profile.attributes.first_name).toMatch(/^c-[\ufffd\ud800]$/);
  });
});

it("An empty contactUUID is refused", async () => {
  const { v1 } = clientForBytes('{"contact":{"contactUUID":" ","action":"created"}}');

  expect(await failureOf(v1.contactGroups.addContact("g", contact))).toMatchObject({
    code: "unexpected_response",
    outcome: "unknown",
  });
});
