import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { AudienceClient, ConfigurationError, type ListOptions, ValidationError } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { describe, expect, it } from "vitest";
import { collect, errorOf } from "./served-lists.ts";

// A caller in JavaScript can pass all of these.

describe("a wrong query of a list", () => {
  it.each<[string, unknown]>([
    ["null", null],
    ["a limit that is a BigInt", { limit: 5n }],
    ["a limit that is a symbol", { limit: Symbol("limit") }],
    ["a limit that would have to be converted", { limit: { valueOf: () => expect.fail("is asked") } }],
  ])("is a ValidationError, and nothing is sent: %s", async (_, query) => {
    const mock = createMockService();
    const { v1, v2 } = new AudienceClient(mock.clientOptions);
    for (const list of [v1.customers, v1.contactGroups, v2.lists].map((lists) => lists.list(query as object)))
      expect(await errorOf(list.toArray())).toBeInstanceOf(ValidationError);
    expect(mock.requests).toEqual([]);
  });
});

const waysToRead: ((list: ReturnType<AudienceClient["v1"]["customers"]["list"]>) => PromiseLike<unknown>)[] =
  [(list) => list, collect, (list) => collect(list.pages()), (list) => list.toArray()];

const wrongOptions: [string, unknown, string][] = [
  ...[-1, 1.5, Number.NaN, Infinity].map((readAhead): [string, unknown, string] => [
    `readAhead ${readAhead}`,
    { readAhead },
    `readAhead must be an integer from 0, not ${readAhead}`,
  ]),
  ["readAhead as a string", { readAhead: "2" }, "readAhead must be an integer from 0, not a string"],
  ["readAhead null", { readAhead: null }, "readAhead must be an integer from 0, not null"],
  ["a controller as the signal", { signal: new AbortController() }, "signal must be an AbortSignal"],
  ["options that are null", null, "The call's options must be an object, not null"],
  ["a Map as options", new Map(), "The call's options must be a plain object, not a Map"],
  ["a signal as options", new AbortController().signal, "The call's options must be a plain object"],
  ["a wrong case", { readahead: 2 }, 'there is no option "readahead"; did you mean readAhead?'],
  [
    "an unknown option",
    { perPage: 2 },
    'there is no option "perPage"; the options are signal, timeoutMs, deadlineMs, maxRetries, maxWaitMs, priority, headers, repeatable, readAhead.',
  ],
];

it.each(wrongOptions)(
  "a wrong option of a list is a call that was refused before sending: %s",
  async (_, options, message) => {
    const mock = createMockService();
    const { v1, v2 } = new AudienceClient(mock.clientOptions);
    const traced: unknown[] = [];
    const onEnd = (event: unknown) => void traced.push(event);
    const channel = "tracing:audience-sdk:call:asyncEnd";
    subscribe(channel, onEnd);

    const errors: unknown[] = [];
    for (const read of waysToRead)
      errors.push(await errorOf(read(v1.customers.list({}, options as ListOptions))));
    unsubscribe(channel, onEnd);
    for (const lists of [v1.contactGroups, v2.lists])
      errors.push(await errorOf(lists.list({}, options as ListOptions).toArray()));

    const request = { attempts: 0 };
    for (const error of errors) {
      expect(error).toBeInstanceOf(ConfigurationError);
      expect(error).toMatchObject({
        outcome: "not-sent",
        request,
        message: expect.stringContaining(message),
      });
    }
    const ended = { operation: "v1.customers.list", attempts: 0, outcome: "not-sent" };
    expect(traced).toMatchObject(waysToRead.map(() => ended));
    expect(mock.requests).toEqual([]);
  },
);

// Each would read the whole list, one call for every hundred items.
it.each<[unknown]>([
  [5],
  [null],
  [{ limit: 5 }],
  [{ Max: 5 }],
  ...[-1, 0.5, Number.NaN, "10", null].map((max): [unknown] => [{ max }]),
])("a wrong option of toArray is a ConfigurationError, and nothing is sent: %j", async (options) => {
  const mock = createMockService();
  const { v1 } = new AudienceClient(mock.clientOptions);
  const error = await errorOf(v1.customers.list().toArray(options as object));
  expect(error).toBeInstanceOf(ConfigurationError);
  expect(mock.requests).toEqual([]);
});
