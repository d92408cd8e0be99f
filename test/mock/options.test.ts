import { createMockService, type MockListenOptions, type MockServiceOptions } from "audience-sdk/mock";
import { expect, it } from "vitest";

const untyped = (options: unknown) => () => createMockService(options as MockServiceOptions);

it.each([
  [
    "a misspelt name",
    { organisations: [] },
    'the options of the mock: "organisations" is none of organizations',
  ],
  ["organizations that are no array", { organizations: {} }, "organizations must be an array"],
  ["a seed that is no number", { seed: "x" }, "seed must be a number"],
  ["a latency that is a string", { latencyMs: "x" }, "latencyMs must be milliseconds from 0, or [min, max]"],
  [
    "a range whose maximum is below its minimum",
    { latencyMs: [5, 1] },
    "latencyMs must be milliseconds from 0, or [min, max]",
  ],
  ["unknown rate limits", { rateLimits: "doc" }, "rateLimits must be false"],
  [
    "an unknown algorithm",
    { rateLimits: { windows: [], algorithm: "leaky" } },
    "rateLimits.algorithm must be one of sliding, fixed, token-bucket",
  ],
  ["a clock that is no function", { clock: 5 }, "clock must be a function"],
  ["null", null, "the options of the mock must be a plain object"],
  ["a number", 5, "the options of the mock must be a plain object"],
])("options are refused with %s", (_title, options, message) => {
  expect(untyped(options)).toThrow(message);
});

it.each([
  ["none", undefined],
  ["values that are undefined", { seed: undefined, latencyMs: undefined }],
  ["a range of latencies", { latencyMs: [0, 5] }],
  ["windows alone", { rateLimits: [{ limit: 1, intervalMs: 1_000 }] }],
])("options are accepted with %s", (_title, options) => {
  expect(untyped(options)).not.toThrow();
});

const organization = { id: "o", apiKeys: ["mock-key"], appId: "app" };

it.each([
  ["that is no object", null, "organizations[0] must be a plain object"],
  ["without an id", { ...organization, id: "" }, "organizations[0].id must be a string that is not empty"],
  [
    "without an app id",
    { ...organization, appId: 7 },
    "organizations[0].appId must be a string that is printable ASCII",
  ],
  ["without a key", { ...organization, apiKeys: [] }, "apiKeys must be an array of at least one string"],
  [
    "whose v2 keys are no array",
    { ...organization, apiKeysV2: [""] },
    "apiKeysV2 must be an array of at least",
  ],
  ["whose lists are no array", { ...organization, lists: ["l"] }, "lists must be an array of objects"],
  [
    "with a list that has no name",
    { ...organization, lists: [{ id: "l" }] },
    "lists[0].name must be a string",
  ],
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
    "contacts[0].id must be a string that is not empty",
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
  ["a misspelt name", { prot: 4010 }, 'the options of listen: "prot" is none of port'],
  [
    "a host, because the host is always loopback",
    { host: "0.0.0.0" },
    'the options of listen: "host" is none of port',
  ],
  ["null", null, "the options of listen must be a plain object"],
  ["a port instead of options", 4010, "the options of listen must be a plain object"],
  ["a port that is a string", { port: "4010" }, "port must be an integer from 0 to 65,535"],
])("listen refuses %s", async (_title, options, message) => {
  const listening = createMockService().listen(options as MockListenOptions);

  await expect(listening).rejects.toThrow(new TypeError(message));
});
