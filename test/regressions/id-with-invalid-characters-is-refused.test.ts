import { AudienceClient, UnexpectedResponseError } from "audience-sdk";
import { describe, expect, it } from "vitest";
import { failureOf } from "../transport/failure.ts";

function clientFor(body: string | Uint8Array<ArrayBuffer>): AudienceClient {
  const base = "https://api.example.com";
  const fetch = async () => new Response(body);
  return new AudienceClient({
    baseUrl: base,
    baseUrlV2: base,
    apiKey: "k",
    appId: "a",
    rateLimiter: false,
    fetch,
  });
}

/** `c-ü` from a service that encodes JSON as Latin-1. */
const notUtf8 = (text: string) => new Uint8Array(Buffer.from(text.replace("ID", "c-\u00fc"), "latin1"));
const halfACharacter = (text: string) => text.replace("ID", "c-\\ud800");
const contact = { email: "ada@example.com", email_opt_in: "SUBSCRIBED" } as const;

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
    const error = await failureOf(call(clientFor(mangled(text))));

    expect(error).toBeInstanceOf(UnexpectedResponseError);
    expect(error.outcome).toBe(error.request?.method === "GET" ? "not-applied" : "unknown");
  });

  it("any other field with such bytes is decoded as far as possible", async () => {
    const text = '{"data":{"id":"c-1","attributes":{"first_name":"ID"}}}';

    const { attributes } = await clientFor(mangled(text)).v1.customers.get("c-1");

    expect(attributes.first_name).toMatch(/^c-[\ufffd\ud800]$/);
  });
});

it("An empty contactUUID is refused", async () => {
  const text = '{"contact":{"contactUUID":" ","action":"created"}}';

  expect(await failureOf(clientFor(text).v1.contactGroups.addContact("g", contact))).toMatchObject({
    code: "unexpected_response",
    outcome: "unknown",
  });
});
