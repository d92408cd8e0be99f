import { createMockService, type MockServiceOptions } from "audience-sdk/mock";
import { expect, it } from "vitest";

const untyped = (options: unknown) => () => createMockService(options as MockServiceOptions);

it.each([
  [
    "a mistyped name",
    { organisations: [] },
    'the mock has no option "organisations"; there are organizations',
  ],
  ["organizations that are no array", { organizations: {} }, "organizations must be an array"],
  ["a seed that is no number", { seed: "x" }, "seed must be a number"],
  ["a latency in words", { latencyMs: "x" }, "latencyMs must be milliseconds from 0, or [min, max]"],
  [
    "a range that runs backwards",
    { latencyMs: [5, 1] },
    "latencyMs must be milliseconds from 0, or [min, max]",
  ],
  ["rate limits of another name", { rateLimits: "doc" }, "rateLimits must be false"],
  [
    "an algorithm of another name",
    { rateLimits: { windows: [], algorithm: "leaky" } },
    "rateLimits must be false",
  ],
  ["a clock that is no function", { clock: 5 }, "clock must be a function"],
  ["null", null, "the options of the mock must be an object"],
  ["a number", 5, "the options of the mock must be an object"],
])("options are refused with %s", (_title, options, message) => {
  expect(untyped(options)).toThrow(message);
});

it.each([
  ["none", undefined],
  ["what is undefined", { seed: undefined, latencyMs: undefined }],
  ["a range of latencies", { latencyMs: [0, 5] }],
  ["windows alone", { rateLimits: [{ limit: 1, intervalMs: 1_000 }] }],
])("options are taken with %s", (_title, options) => {
  expect(untyped(options)).not.toThrow();
});
