import { AudienceClient } from "audience-sdk";
import { createMockService, type MockServiceOptions } from "audience-sdk/mock";
import { expect, it } from "vitest";

const limited = (rateLimits: unknown) => () =>
  createMockService({ rateLimits: rateLimits as NonNullable<MockServiceOptions["rateLimits"]> });
const window = { limit: 1, intervalMs: 1_000 };
const limit = "limit must be an integer from 1";
const interval = "intervalMs must be milliseconds above 0";

it.each<[string, unknown, string]>([
  ["no window", [], "options.rateLimits must have at least 1 item"],
  ["no window, in full", { windows: [] }, "options.rateLimits.windows must have at least 1 item"],
  [
    "a misspelt name",
    { windows: [window], algoritm: "fixed" },
    "options.rateLimits.algoritm is not a recognized field; there are windows, algorithm, retryAfter, countRefused, phaseMs",
  ],
  [
    "a misspelt name in a window",
    [window, { ...window, intervalMS: 5 }],
    "options.rateLimits[1].intervalMS is not a recognized field; there are limit, intervalMs",
  ],
  [
    "a misspelt name in a window, in full",
    { windows: [{ ...window, x: 1 }] },
    "options.rateLimits.windows[0].x is not a recognized field; there are limit, intervalMs",
  ],
  ["a window that is no object", [5], "options.rateLimits[0] must be an object, not a number"],
  ["a limit of 0", [{ ...window, limit: 0 }], `options.rateLimits[0].${limit}`],
  ["a limit of 0.5", [{ ...window, limit: 0.5 }], `options.rateLimits[0].${limit}`],
  ["a window of 0 ms", [{ ...window, intervalMs: 0 }], `options.rateLimits[0].${interval}`],
  ["a window that is a string", [{ ...window, intervalMs: "1000" }], `options.rateLimits[0].${interval}`],
  [
    "an infinite window",
    { windows: [{ ...window, intervalMs: Infinity }] },
    `options.rateLimits.windows[0].${interval}`,
  ],
  [
    "an unknown algorithm",
    { windows: [window], algorithm: "leaky" },
    "options.rateLimits.algorithm must be one of sliding, fixed, token-bucket",
  ],
  [
    "an unknown format of Retry-After",
    { windows: [window], retryAfter: true },
    "options.rateLimits.retryAfter must be one of seconds, date, false",
  ],
  [
    "a count that is a string",
    { windows: [window], countRefused: "yes" },
    "options.rateLimits.countRefused must be a boolean, not a string",
  ],
  [
    "a phase that is a string",
    { windows: [window], phaseMs: "5" },
    "options.rateLimits.phaseMs must be a number",
  ],
])("Rate limits are refused with %s", (_, rateLimits, message) => {
  expect(limited(rateLimits)).toThrow(new TypeError(message));
});

it.each<[string, unknown]>([
  ["none", false],
  ["the documented ones", "documented"],
  ["one window", [window]],
  ["a window of less than a millisecond", [{ limit: 1, intervalMs: 0.5 }]],
  [
    "all options",
    { windows: [window], algorithm: "fixed", retryAfter: false, countRefused: true, phaseMs: -5 },
  ],
  [
    "values that are undefined",
    {
      windows: [{ ...window, x: undefined }],
      algorithm: undefined,
      retryAfter: undefined,
      countRefused: undefined,
      phaseMs: undefined,
    },
  ],
])("Accepted rate limits configure the client too: %s", async (_, rateLimits) => {
  const mock = limited(rateLimits)();
  const audience = new AudienceClient(mock.clientOptions);

  expect((await audience.v2.lists.list()).items).toHaveLength(1);
  expect(mock.requests).toMatchObject([{ status: 200 }]);
});
