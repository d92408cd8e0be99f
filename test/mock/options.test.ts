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

const untyped = (options: unknown) => () => createMockService(options as MockServiceOptions);

it.each([
  [
    "a misspelt name",
    { organisations: [] },
    "options.organisations is not a recognized field; there are organizations, rateLimits",
  ],
  ["organizations that are no array", { organizations: {} }, "organizations must be an array"],
  ["a seed that is no number", { seed: "x" }, "seed must be a number"],
  ["a latency that is a string", { latencyMs: "x" }, "latencyMs must be milliseconds from 0, or [min, max]"],
  [
    "a range whose maximum is below its minimum",
    { latencyMs: [5, 1] },
    "latencyMs must be milliseconds from 0, or [min, max]",
  ],
  [
    "unknown rate limits",
    { rateLimits: "doc" },
    'options.rateLimits must be false, "documented", an array of windows',
  ],
  [
    "an unknown algorithm",
    { rateLimits: { windows: [], algorithm: "leaky" } },
    "rateLimits.algorithm must be one of sliding, fixed, token-bucket",
  ],
  ["a clock that is no function", { clock: 5 }, "clock must be a function that returns milliseconds"],
  [
    "an asynchronous clock",
    { clock: () => Promise.resolve(5) },
    "clock must be a function that returns milliseconds",
  ],
  ["null", null, "options must be an object, not null"],
  ["a number", 5, "options must be an object, not a number"],
  ["a Promise", Promise.resolve({ seed: 7 }), "options must be an object, not a Promise"],
  ["a Map", new Map([["seed", 7]]), "options must be an object, not a Map"],
])("options are refused with %s", (_title, options, message) => {
  expect(untyped(options)).toThrow(message);
});

it.each([
  ["none", undefined],
  ["a range of latencies", { latencyMs: [0, 5] }],
  ["windows alone", { rateLimits: [{ limit: 1, intervalMs: 1_000 }] }],
])("options are accepted with %s", (_title, options) => {
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

const organization = { id: "o", apiKeys: ["mock-key"], appId: "app" };

it.each([
  ["that is no object", null, "organizations[0] must be an object, not null"],
  [
    "without an id",
    { ...organization, id: "" },
    "organizations[0].id must have at least 1 characters, has 0",
  ],
  [
    "without an app id",
    { ...organization, appId: 7 },
    "organizations[0].appId must be a string, not a number",
  ],
  ["without a key", { ...organization, apiKeys: [] }, "apiKeys must have at least 1 item"],
  [
    "whose v2 keys are no array",
    { ...organization, apiKeysV2: [""] },
    "apiKeysV2[0] must have at least 1 characters, has 0",
  ],
  ["whose lists are no array", { ...organization, lists: ["l"] }, "lists[0] must be an object, not a string"],
  ["with a list that has no name", { ...organization, lists: [{ id: "l" }] }, "lists[0].name is required"],
  [
    "with a list of an unknown type",
    { ...organization, lists: [{ id: "l", name: "L", type: "ALL" }] },
    "lists[0].type must be one of LIST, SEGMENT",
  ],
  [
    "with a list with an invalid creation time",
    { ...organization, lists: [{ id: "l", name: "L", created_at: NaN }] },
    "lists[0].created_at must be a number",
  ],
  [
    "with a contact whose id is a number",
    { ...organization, contacts: [{ id: 5 }] },
    "contacts[0].id must be a string, not a number",
  ],
  [
    "with a contact whose lists are a string",
    { ...organization, contacts: [{ email: "ada@example.com", lists: "l" }] },
    "contacts[0].lists must be an array",
  ],
  [
    "with an automation without a trigger",
    { ...organization, automations: [{ name: "a", on: {} }] },
    "automations[0].on must be { event } or { listId }",
  ],
])("an organization is refused %s", (_title, seed, message) => {
  expect(untyped({ organizations: [seed] })).toThrow(message);
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

const seed = { id: "o", apiKeys: ["key"], appId: "app" };

it.each([
  ["a variant of another name", { variants: { v1List: "list" } }, "v1List must be one of data, array"],
  ["a variant of another type", { variants: { canAddToSegment: "no" } }, "canAddToSegment must be a boolean"],
  ["a status that no response has", { variants: { eventStatus: 99 } }, "eventStatus must be a status"],
  [
    "lists that are no array",
    { organizations: [{ ...seed, lists: 5 }] },
    "lists must be an array, not a number",
  ],
  [
    "an automation without a trigger",
    { organizations: [{ ...seed, automations: [{ name: "a" }] }] },
    "automations[0]",
  ],
  ["a window that is no object", { rateLimits: [null] }, "rateLimits[0] must be an object, not null"],
])("The mock refuses %s when it is created", (_, options, message) => {
  expect(untyped(options)).toThrow(TypeError);
  expect(untyped(options)).toThrow(message);
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

it("A response to an event has no body where its status allows none", async () => {
  const mock = createMockService({ variants: { eventStatus: 205 } });
  const { baseUrl, apiKey } = mock.clientOptions;

  const response = await mock.fetch(`${baseUrl}/api/v1/events`, {
    method: "POST",
    headers: { "x-api-key": apiKey, "content-type": "application/json" },
    body: JSON.stringify({ eventName: "signed_up", contact: { email: "ada@example.com" } }),
  });

  expect(response.status).toBe(205);
});
