import { v1ContactFieldsSchema } from "audience-sdk/schemas";
import { describe, expect, it, onTestFinished } from "vitest";
import type { RequestDetails } from "../../src/mock/page/page-view.ts";
import { acme, emailIdentifier, v2Contact } from "../document/service.ts";
import { type Call, inProcess, nodeHttp } from "./entry-points.ts";

const email = "ada@example.com";
const organizations = [
  {
    ...acme,
    contacts: [{ id: "ada", email }],
    automations: [
      { name: "Hello", on: { listId: "news" } },
      { name: "Thanks", on: { event: "order placed" }, webhook: { url: "http://localhost:3000/hooks" } },
    ],
  },
];
const subscribed = (more: object = {}) => v2Contact({ identifiers: [emailIdentifier(email)], ...more });
const create = "/api/v1/customer/create";
const addToNews = "/api/v1/contact-groups/news/contacts";

/** A mock, and what its page tells of each request. */
async function recorded() {
  const { call, close } = await nodeHttp.open({
    organizations,
    webhookFetch: () => Promise.resolve(new Response(null, { status: 204 })),
  });
  onTestFinished(close);
  return {
    post: (path: string, body: unknown) => call(path, { body }),
    // Safe: the page has such details.
    details: async (number: number) => (await call(`/__mock/requests/${number}`)).body as RequestDetails,
  };
}

describe("Of a request the record has", () => {
  it("the time of its arrival, and how long it took, by the mock's clock", async () => {
    let now = Date.parse("2026-01-31T09:30:00.120Z");
    const clock = () => now;
    const { mock, call } = await inProcess.open({
      clock,
      faults: [{ kind: "latency", delayMs: 1, times: 1 }],
    });
    const response = call("/v2/lists");
    await expect.poll(() => mock.requests.length).toBe(1);
    const { durationMs } = mock.requests[0] ?? {};
    now += 12;
    await response;

    expect(durationMs).toBeUndefined();
    expect(mock.requests).toMatchObject([{ at: "2026-01-31T09:30:00.120Z", durationMs: 12 }]);
  });

  it.each<[string, Call, refusedFor: string]>([
    ["/v2/lists", { headers: { "service-api-key": "" } }, 'API key missing or invalid ("Authentication")'],
    ["/api/v1/nothing", {}, 'there is no GET /api/v1/nothing ("Endpoints")'],
    [create, { rawBody: "{" }, 'the body is not JSON ("Endpoints")'],
    [create, { body: [] }, 'the body must be an object, not an array ("v1 contact")'],
    [create, { body: {} }, 'email or phone is required ("v1 contact")'],
    [create, { body: { email: null } }, 'email must be a string, not null ("v1 contact")'],
    [
      create,
      { body: { email: "ada", phone: "1", custom_properties: { plan: null } } },
      'email must be an email address; phone must have at least 7 characters, has 1; custom_properties.plan must not be null ("v1 contact")',
    ],
    [
      create,
      { body: { email, plan: "gold" } },
      `plan is not a recognized field; there are ${Object.keys(v1ContactFieldsSchema.shape).join(", ")} ("v1 contact")`,
    ],
    ["/api/v1/customer/eve", {}, 'no contact has this id ("GET /api/v1/customer/{id}")'],
    ["/api/v1/customer?page=0", {}, 'page must be an integer from 1 ("GET /api/v1/customer")'],
    [
      "/api/v1/events",
      { body: { eventName: "order placed" } },
      'contact must have an email or a contactUUID ("Custom event")',
    ],
    [
      "/api/v1/events",
      { body: { eventName: "", contactUUID: "a", eventData: { items: [1, { sku: null }] } } },
      'eventName must have at least 1 characters, has 0; eventData.items.1.sku must not be null ("Custom event")',
    ],
    ["/v2/contacts", { body: { firstName: "Ada", listIds: [] } }, 'identifiers is required ("v2 contact")'],
    [
      "/v2/contacts",
      {
        body: {
          ...subscribed(),
          listIds: ["a", 7],
          identifiers: [{ ...emailIdentifier("ada"), type: "fax" }],
        },
      },
      'listIds[1] must be a string, not a number; identifiers[0].type must be one of email, phone; identifiers[0].channels.phone is required ("v2 contact")',
    ],
  ])("the rule that refused it, with the section of the document: %s %o", async (path, sent, refusedFor) => {
    const { mock, call } = await inProcess.open({ organizations });
    await call(path, sent);

    expect(mock.requests).toMatchObject([{ refusedFor, applied: false }]);
  });

  it("the rate limit that refused it", async () => {
    const { mock, call } = await inProcess.open({
      rateLimits: [{ limit: 1, intervalMs: 5_000 }],
      clock: () => 0,
    });
    await call("/v2/lists");
    await call("/v2/lists");

    expect(mock.requests[1]).toMatchObject({
      status: 429,
      refusedFor: 'rate limit exceeded, the next permit in 5.0 s ("Limits")',
    });
  });
});

it.each<[string, path: string, body: object, changes: string[]]>([
  ["a new contact", create, { phone: "4915112345678" }, ["created", "phone NON_SUBSCRIBED"]],
  ["a field", create, { email, city: "Rome" }, ["changed city"]],
  ["a consent", create, { email, email_opt_in: "SUBSCRIBED" }, ["email NON_SUBSCRIBED → SUBSCRIBED"]],
  [
    "a list and an automation",
    addToNews,
    { email },
    ["email NON_SUBSCRIBED → SUBSCRIBED", "joined the list Newsletter", "automation Hello"],
  ],
  [
    "an event and a webhook",
    "/api/v1/events",
    { eventName: "order placed", contact: { email } },
    ["event order placed", "automation Thanks calls http://localhost:3000/hooks"],
  ],
  [
    "a welcome e-mail",
    "/v2/contacts",
    subscribed({ triggerWelcomeEmail: true }),
    ["changed first_name", "email NON_SUBSCRIBED → SUBSCRIBED", "gets the welcome e-mail"],
  ],
])("The record tells what a request changed: %s", async (_, path, body, changes) => {
  const { details, post } = await recorded();
  await post(path, body);

  const name = "phone" in body ? "4915112345678" : email;
  expect((await details(1)).changes).toEqual(changes.map((change) => `${name}: ${change}`));
});

describe("The record names the variants that decided where the document is silent", () => {
  it.each<[variant: string, value: string, path: string, body: object]>([
    ["v2UnknownList", "ignored", "/v2/contacts", subscribed({ listIds: ["no-list"] })],
    ["emailOptInOmitted", "kept", create, { email }],
    ["canAddToSegment", "false", "/api/v1/contact-groups/engaged/contacts", { email }],
  ])("%s: %s", async (variant, value, path, body) => {
    const { details, post } = await recorded();
    await post(path, body);

    expect((await details(1)).stances).toEqual([{ variant, value }]);
  });
});
