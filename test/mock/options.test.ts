import {
  createMockService,
  everyClick,
  everyFault,
  type MockContactSeed,
  type MockListenOptions,
  type MockServiceOptions,
} from "audience-sdk/mock";
import { mswHandlers } from "audience-sdk/mock/msw";
import { expect, it } from "vitest";

/** From JSON or JavaScript, without types. */
const untyped = (options: unknown) => () => createMockService(options as MockServiceOptions);

const seed = { id: "o", apiKeys: ["key"], appId: "app" };
const other = { id: "other", apiKeys: ["other-key"], appId: "app" };
const list = { id: "news", name: "News" };
const segment = { id: "engaged", name: "Engaged", type: "SEGMENT" };
const ada = { email: "ada@example.com" };
const window = { limit: 1, intervalMs: 1_000 };
const url = "http://localhost:3000/hooks";

const organization = (more: object) => ({ organizations: [{ ...seed, ...more }] });
const withList = (more: object) => organization({ lists: [{ ...list, ...more }] });
const withContacts = (...given: unknown[]) => organization({ lists: [list], contacts: given });
const automation = (more: object) =>
  organization({ lists: [list], automations: [{ name: "a", on: { event: "e" }, ...more }] });
const webhook = (address: unknown) => automation({ webhook: { url: address } });
const windows = (more: object) => ({ rateLimits: [{ ...window, ...more }] });
const limits = (more: object) => ({ rateLimits: { windows: [window], ...more } });

const at = "options.organizations[0]";
const loopback = "webhook.url must be on loopback (localhost, 127.0.0.1, [::1]), unless";
const interval = "options.rateLimits[0].intervalMs must be milliseconds above 0";

it.each<[unknown, string]>([
  [null, "options must be an object, not null"],
  [Promise.resolve({ seed: 7 }), "options must be an object, not a Promise"],
  [new Map([["seed", 7]]), "options must be an object, not a Map"],
  [{ organisations: [] }, "options.organisations is not a recognized field; there are organizations, rateL"],
  [{ organizations: [] }, "options.organizations must have at least 1 item"],
  [{ organizations: seed }, "options.organizations must be an array, not an object"],
  [{ seed: "x" }, "options.seed must be a number"],
  [{ latencyMs: "x" }, "options.latencyMs must be milliseconds from 0, or [min, max]"],
  [{ latencyMs: [5, 1] }, "options.latencyMs must be milliseconds from 0, or [min, max]"],
  [{ clock: 5 }, "options.clock must be a function that returns milliseconds"],
  [{ clock: () => Promise.resolve(5) }, "options.clock must be a function that returns milliseconds"],
  [{ webhooks: true }, "options.webhooks must be one of loopback, anywhere"],
  [{ webhookFetch: url }, "options.webhookFetch must be a function"],
  [{ faults: [{ kind: "explode" }] }, "options.faults[0].kind must be one of reset-before, "],

  [
    { variants: { v1Lists: 1 } },
    "variants.v1Lists is not a recognized field; there are baseUrl, baseUrlV2, v1L",
  ],
  [{ variants: { v1List: "list" } }, "options.variants.v1List must be one of data, array"],
  [
    { variants: { canAddToSegment: "no" } },
    "options.variants.canAddToSegment must be a boolean, not a string",
  ],
  [{ variants: { eventStatus: 99 } }, "options.variants.eventStatus must be a status"],
  [{ variants: { baseUrl: "https://a.b/?c" } }, "options.variants.baseUrl must be a base URL"],
  [{ variants: { webhookBody: "xml" } }, "webhookBody must be one of flat, envelope, contact, or a function"],
  [{ variants: { webhookAttempts: 0 } }, "options.variants.webhookAttempts must be an integer from 1"],
  [{ variants: { webhookTimeoutMs: -1 } }, "options.variants.webhookTimeoutMs must be milliseconds from 0"],
  [
    { variants: { permissions: { kye: [] } }, organizations: [seed] },
    'variants.permissions: no organization has the key "kye"; there are: key',
  ],

  [{ organizations: [null] }, `${at} must be an object, not null`],
  [organization({ id: "" }), `${at}.id must have at least 1 characters, has 0`],
  [organization({ appId: 7 }), `${at}.appId must be a string, not a number`],
  [organization({ apiKeys: [] }), `${at}.apiKeys must have at least 1 item`],
  [organization({ apiKeysV2: [""] }), `${at}.apiKeysV2[0] must have at least 1 characters, has 0`],
  [
    organization({ welcomeflow: true }),
    `${at}.welcomeflow is not a recognized field; there are id, apiKeys, apiKeysV2, appId, lists, contacts, automations, welcomeFlow`,
  ],
  [organization({ welcomeFlow: null }), `${at}.welcomeFlow must be a boolean`],
  [{ organizations: [seed, { ...other, id: "o" }] }, 'organizations: two have the id "o"'],
  [{ organizations: [seed, { ...other, apiKeys: ["key"] }] }, '"o" and "other" have the same key'],
  [{ organizations: [seed, { ...other, apiKeysV2: ["key"] }] }, '"o" and "other" have the same key'],
  [
    {
      organizations: [
        { ...seed, apiKeysV2: ["v2"] },
        { ...other, apiKeys: ["v2"], apiKeysV2: ["v"] },
      ],
    },
    '"o" and "other" have the same key',
  ],

  [organization({ lists: ["l"] }), `${at}.lists[0] must be an object, not a string`],
  [withList({ name: undefined }), `${at}.lists[0].name is required`],
  [withList({ type: "ALL" }), `${at}.lists[0].type must be one of LIST, SEGMENT`],
  [withList({ created_at: NaN }), `${at}.lists[0].created_at must be a number`],
  [
    withList({ kind: "x" }),
    `${at}.lists[0].kind is not a recognized field; there are id, name, type, description`,
  ],
  [organization({ lists: [list, list] }), 'organizations[0].lists: two have the id "news"'],

  [withContacts({ id: 5 }), `${at}.contacts[0].id must be a string, not a number`],
  [withContacts({ ...ada, lists: "l" }), `${at}.contacts[0].lists must be an array`],
  [
    withContacts({ ...ada, created: "yesterday" }),
    `${at}.contacts[0].created must be an ISO 8601 day or date-time`,
  ],
  [withContacts({ ...ada, updated: "" }), `${at}.contacts[0].updated must be an ISO 8601 day or date-time`],
  [withContacts({ id: "1", ...ada }, { id: "1", phone: "1234567" }), 'contacts: two have the id "1"'],
  [
    withContacts({ ...ada, firstName: "A" }),
    'organization "o", contact ada@example.com: firstName is not a recog',
  ],
  [
    withContacts({ phone: "1234567", plan: "gold" }),
    'organization "o", contact 1234567: plan is not a recognized',
  ],
  [withContacts({ id: "ada" }), 'organization "o", contact ada: email or phone is required'],
  [
    withContacts({ city: "A" }),
    'organization "o", contact without email and phone: email or phone is required',
  ],
  [withContacts({ ...ada, lists: ["x"] }), 'no list "x"'],
  [withContacts(ada, { email: "ADA@example.com" }), "earlier one"],

  [automation({ on: {} }), `${at}.automations[0].on must be { event } or { listId }`],
  [
    automation({ on: { event: "e", listId: "news" } }),
    "{ event } or { listId }; for both, write two automations",
  ],
  [automation({ on: { event: "" } }), `${at}.automations[0].on.event must have at least 1 characters, has 0`],
  [
    automation({ on: { event: "e", list: "news" } }),
    "automations[0].on.list is not a recognized field; there are",
  ],
  [automation({ on: { listId: "nows" } }), 'automations[0].on: the organization has no list "nows"'],
  [automation({ enabled: false }), "automations[0].enabled is not a recognized field; there are name, on"],
  [automation({ webhook: url }), "automations[0].webhook must be an object"],
  [automation({ webhook: {} }), "automations[0].webhook.url is required"],
  [webhook("/hooks"), "automations[0].webhook.url must be an http: or https: URL"],
  [webhook("ftp://localhost/hooks"), "automations[0].webhook.url must be an http: or https: URL"],
  [webhook("https://example.com/hooks"), loopback],
  [webhook("http://127.0.0.1.example.com/"), loopback],
  [webhook("http://0.0.0.0:3000/"), loopback],

  [{ rateLimits: "doc" }, 'options.rateLimits must be false, "documented", an array of windows'],
  [{ rateLimits: [] }, "options.rateLimits must have at least 1 item"],
  [windows({ limit: 0.5 }), "options.rateLimits[0].limit must be an integer from 1"],
  [windows({ intervalMs: 0 }), interval],
  [windows({ intervalMs: "1000" }), interval],
  [windows({ intervalMs: Infinity }), interval],
  [
    windows({ intervalMS: 5 }),
    "options.rateLimits[0].intervalMS is not a recognized field; there are limit, in",
  ],
  [limits({ windows: [] }), "options.rateLimits.windows must have at least 1 item"],
  [
    limits({ algoritm: "fixed" }),
    "options.rateLimits.algoritm is not a recognized field; there are windows, algorithm, retryAfter, countRefused, phaseMs",
  ],
  [
    limits({ algorithm: "leaky" }),
    "options.rateLimits.algorithm must be one of sliding, fixed, token-bucket",
  ],
  [limits({ retryAfter: true }), "options.rateLimits.retryAfter must be one of seconds, date, false"],
  [limits({ countRefused: "yes" }), "options.rateLimits.countRefused must be a boolean, not a string"],
  [limits({ phaseMs: "5" }), "options.rateLimits.phaseMs must be a number"],
])("The mock refuses %j: %s", (options, message) => {
  expect(untyped(options)).toThrow(TypeError);
  expect(untyped(options)).toThrow(message);
});

it.each<[unknown]>([
  [undefined],
  [{ latencyMs: [0, 5] }],
  [{ rateLimits: [{ limit: 1, intervalMs: 0.5 }] }],
  [limits({ algorithm: "fixed", retryAfter: false, countRefused: true, phaseMs: -5 })],
  [
    organization({
      id: "news",
      apiKeys: ["news"],
      apiKeysV2: ["news"],
      lists: [list],
      contacts: [{ id: "news", ...ada }],
    }),
  ],
  [organization({ lists: [segment], contacts: [{ ...ada, lists: ["engaged"] }] })],
  [organization({ lists: [segment], automations: [{ name: "a", on: { listId: "engaged" } }] })],
  [withContacts({ ...ada, created: "2026-01-31" })],
  ...["http://127.0.0.1:3000", "http://127.1", "http://[::1]:3000/hooks/@ada"].map(
    (each) => [webhook(each)] as [unknown],
  ),
])("The mock accepts %j", (options) => {
  expect(untyped(options)).not.toThrow();
});

it("Each option may be undefined, for a compiler that tells it from an absent one, too", async () => {
  const none = undefined;
  const options: Required<{ [Name in keyof MockServiceOptions]: MockServiceOptions[Name] | undefined }> = {
    organizations: none,
    rateLimits: none,
    faults: none,
    latencyMs: none,
    clock: none,
    seed: none,
    variants: none,
    webhooks: none,
    webhookFetch: none,
  };
  expect(() => createMockService(options)).not.toThrow();
  const contacts: MockContactSeed[] = [{ email: "ada@example.com", first_name: none, lists: none }];
  const lists = [{ id: "news", name: "News", type: none, description: none, created_at: none }];
  const acme = {
    id: "acme",
    apiKeys: ["key"],
    apiKeysV2: none,
    appId: "app",
    welcomeFlow: none,
    automations: none,
  };
  const mock = createMockService({
    organizations: [{ ...acme, lists, contacts }],
    rateLimits: { windows: [{ limit: 1, intervalMs: 1 }], algorithm: none, retryAfter: none },
    variants: { v1List: none },
  });
  mock.addFault({ kind: "429", operation: none, times: none, delayMs: none });
  mock.unsubscribe("ada@example.com", { channel: none, organization: none });
  const listener = await mock.listen({ port: none, host: none, allowHosts: none });
  await listener.close();
  expect(mswHandlers(mock, { baseUrl: none, baseUrlV2: none })).toHaveLength(4);
  const named = { kinds: none, mock: none, timeoutMs: none };
  await expect(everyFault(() => Promise.resolve(), named)).rejects.toThrow("sent no request");
  const clicked = {
    people: none,
    requests: none,
    channel: none,
    writesPerLook: none,
    timeoutMs: none,
    mock: none,
  };
  await expect(everyClick(() => Promise.resolve(), clicked)).rejects.toThrow("sent no request");
});

it.each<[string, unknown, string]>([
  [
    "a misspelt name",
    { prot: 4010 },
    "options.prot is not a recognized field; there are port, host, allowHosts",
  ],
  ["null", null, "options must be an object, not null"],
  ["a port instead of options", 4010, "options must be an object, not a number"],
  ["a port that is a string", { port: "4010" }, "options.port must be an integer from 0 to 65,535"],
])("listen refuses %s", async (_title, options, message) => {
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
