import { createMockService, type MockListenOptions, type MockServiceOptions } from "audience-sdk/mock";
import { expect, it } from "vitest";

/** From JSON or JavaScript, without types. */
const untyped = (options: unknown) => () => createMockService(options as MockServiceOptions);

const seed = { id: "o", apiKeys: ["key"], appId: "app" };
/** One name for all that may have the same. */
const everywhere = { id: "news", apiKeys: ["news"], apiKeysV2: ["news"], appId: "app" };
const other = { id: "other", apiKeys: ["other-key"], appId: "app" };
const withV2 = { ...seed, apiKeysV2: ["v2"] };
const list = { id: "news", name: "News" };
const segment = { id: "engaged", name: "Engaged", type: "SEGMENT" };
const ada = { email: "ada@example.com" };
const window = { limit: 1, intervalMs: 1_000 };

const organization = (more: object) => ({ organizations: [{ ...seed, ...more }] });
const withContacts = (...given: unknown[]) => organization({ lists: [list], contacts: given });
const automation = (more: object) =>
  organization({ lists: [list], automations: [{ name: "a", on: { event: "e" }, ...more }] });
const webhook = (address: unknown) => automation({ webhook: { url: address } });
const windows = (more: object) => ({ rateLimits: [{ ...window, ...more }] });
const limits = (more: object) => ({ rateLimits: { windows: [window], ...more } });

const at = "options.organizations[0]";
const loopback = "webhook.url must be on loopback (localhost, 127.0.0.1, [::1]), unless";

it.each<[unknown, string]>([
  [null, "options must be an object, not null"],
  [{ organisations: [] }, "options.organisations is not a recognized field; there are organizations, rateL"],
  [{ organizations: seed }, "options.organizations must be an array, not an object"],
  [{ latencyMs: [5, 1] }, "options.latencyMs must be milliseconds from 0, or [min, max]"],
  [{ clock: () => Promise.resolve(5) }, "options.clock must be a function that returns milliseconds"],
  [{ faults: [{ kind: "explode" }] }, "options.faults[0].kind must be one of reset-before, "],
  [{ faults: [{ kind: "429", times: 1.5 }] }, "options.faults[0].times must be an integer from 1, or Inf"],
  [{ faults: [{ kind: "429", after: 0.5 }] }, "options.faults[0].after must be an integer from 0, or Inf"],

  [{ variants: { v1List: "list" } }, "options.variants.v1List must be one of data, array"],
  [{ variants: { eventStatus: 99 } }, "options.variants.eventStatus must be a status"],
  [{ variants: { baseUrl: "https://a.b/?c" } }, "options.variants.baseUrl must be a base URL"],
  [{ variants: { webhookBody: "xml" } }, "webhookBody must be one of flat, envelope, contact, or a function"],
  [{ variants: { permissions: { kye: [] } }, organizations: [seed] }, 'has the key "kye"; there are: key'],

  [organization({ id: "" }), `${at}.id must have at least 1 characters, has 0`],
  [organization({ apiKeys: [] }), `${at}.apiKeys must have at least 1 item`],
  [organization({ welcomeflow: true }), `${at}.welcomeflow is not a recognized field; there are id, apiK`],
  [{ organizations: [seed, { ...other, id: "o" }] }, 'organizations: two have the id "o"'],
  [{ organizations: [seed, { ...other, apiKeys: ["key"] }] }, '"o" and "other" have the same key'],
  [{ organizations: [withV2, { ...other, apiKeysV2: ["v2"] }] }, '"o" and "other" have the same key'],

  [organization({ lists: [{ ...list, type: "ALL" }] }), `${at}.lists[0].type must be one of LIST, SEGMENT`],
  [organization({ lists: [list, list] }), 'organizations[0].lists: two have the id "news"'],

  [withContacts({ ...ada, created: "yesterday" }), `${at}.contacts[0].created must be an ISO 8601 day or d`],
  [withContacts({ id: "1", ...ada }, { id: "1", phone: "1234567" }), 'contacts: two have the id "1"'],
  [withContacts({ ...ada, firstName: "A" }), '"o", contact ada@example.com: firstName is not a recog'],
  [withContacts({ ...ada, lists: ["x"] }), 'no list "x"'],
  [withContacts(ada, { email: "ADA@example.com" }), "earlier one"],

  [automation({ on: { event: "e", listId: "news" } }), "{ event } or { listId }; for both, write two autom"],
  [automation({ on: { listId: "nows" } }), 'automations[0].on: the organization has no list "nows"'],
  [webhook("/hooks"), "automations[0].webhook.url must be an http: or https: URL"],
  [webhook("https://example.com/hooks"), loopback],
  [webhook("http://127.0.0.1.example.com/"), loopback],
  [webhook("http://0.0.0.0:3000/"), loopback],

  [{ rateLimits: "doc" }, 'options.rateLimits must be false, "documented", an array of windows'],
  [windows({ intervalMs: 0 }), "options.rateLimits[0].intervalMs must be milliseconds above 0"],
  [limits({ algorithm: "leaky" }), "algorithm must be one of sliding, fixed, token-bucket"],
])("The mock refuses %j: %s", (options, message) => {
  expect(untyped(options)).toThrow(TypeError);
  expect(untyped(options)).toThrow(message);
});

it.each<[unknown]>([
  [undefined],
  [{ latencyMs: [0, 5] }],
  [{ faults: [{ kind: "429", times: Infinity, after: 0 }] }],
  [{ rateLimits: [{ limit: 1, intervalMs: 0.5 }] }],
  [limits({ algorithm: "fixed", retryAfter: false, countRefused: true, phaseMs: -5 })],
  [{ organizations: [{ ...everywhere, lists: [list], contacts: [{ id: "news", ...ada }] }] }],
  [organization({ lists: [segment], contacts: [{ ...ada, lists: ["engaged"] }] })],
  [organization({ lists: [segment], automations: [{ name: "a", on: { listId: "engaged" } }] })],
  [withContacts({ ...ada, created: "2026-01-31" })],
  ...["http://127.0.0.1:3000", "http://127.1", "http://[::1]:3000/hooks/@ada"].map(
    (each) => [webhook(each)] as [unknown],
  ),
])("The mock accepts %j", (options) => {
  expect(untyped(options)).not.toThrow();
});

it.each<[unknown, string]>([
  [{ prot: 4010 }, "options.prot is not a recognized field; there are port, host, allowHosts"],
  [4010, "options must be an object, not a number"],
])("listen refuses %j", async (options, message) => {
  const listening = createMockService().listen(options as MockListenOptions);

  await expect(listening).rejects.toThrow(new TypeError(message));
});

it("A variant that is undefined has its default, and the caller may change its own objects afterwards", async () => {
  const given = { ...seed, lists: [{ id: "list-1", name: "Newsletter" }] };
  const mock = untyped({ organizations: [given], variants: { v1List: undefined } })();
  given.lists.length = 0;
  mock.reset();

  const headers = { "x-api-key": "key" };
  const response = await mock.fetch(`${mock.clientOptions.baseUrl}/api/v1/contact-groups`, { headers });

  expect(await response.json()).toMatchObject({ data: [{ id: "list-1" }] });
});
