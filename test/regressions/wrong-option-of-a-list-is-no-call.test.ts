import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { AudienceClient, ConfigurationError, type ListOptions } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { expect, it } from "vitest";

type Customers = AudienceClient["v1"]["customers"];

const waysToRead: Record<string, (customers: Customers, options: ListOptions) => Promise<unknown>> = {
  "an awaited page": (customers, options) => Promise.resolve(customers.list({}, options)),
  toArray: (customers, options) => customers.list({}, options).toArray(),
  "a loop": async (customers, options) => {
    for await (const _ of customers.list({}, options)) continue;
  },
};
const wrongOptions = {
  "an unknown option": { retries: 3 },
  "a wrong signal": { signal: new AbortController() },
  "a wrong readAhead": { readAhead: "2" },
  "an AbortSignal": new AbortController().signal,
  null: null,
};

it.each(
  Object.keys(waysToRead).flatMap((way) => Object.keys(wrongOptions).map((name) => [way, name] as const)),
)("%s with %s is a call that was refused before sending", async (way, name) => {
  const mock = createMockService();
  const { customers } = new AudienceClient(mock.clientOptions).v1;
  const traced: unknown[] = [];
  const onEnd = (message: unknown) => void traced.push(message);
  const channel = "tracing:audience-sdk:call:asyncEnd";
  subscribe(channel, onEnd);
  // Safe: the wrong type is the subject of this test.
  const options = wrongOptions[name as keyof typeof wrongOptions] as ListOptions;

  const error: unknown = await waysToRead[way]!(customers, options).catch((thrown: unknown) => thrown);

  unsubscribe(channel, onEnd);
  const call = { operation: "v1.customers.list", attempts: 0 };
  expect(error).toBeInstanceOf(ConfigurationError);
  expect(error).toMatchObject({ outcome: "not-sent", request: call });
  expect(traced).toMatchObject([{ ...call, outcome: "not-sent" }]);
  expect(mock.requests).toEqual([]);
});
