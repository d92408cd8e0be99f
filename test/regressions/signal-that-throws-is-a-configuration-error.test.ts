import { AudienceClient, ConfigurationError, type AudienceError } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { describe, expect, it } from "vitest";
import { failureOf } from "../transport/failure.ts";

const hostile = () => {
  throw new Error("thrown by the signal");
};

/** An object with the members of an AbortSignal, which a caller in JavaScript can pass. */
const signalWith = (parts: object): AbortSignal =>
  Object.defineProperties(new EventTarget(), {
    aborted: { value: false },
    reason: { value: undefined },
    ...Object.getOwnPropertyDescriptors(parts),
  }) as AbortSignal;

const client = () => {
  const mock = createMockService();
  return { mock, audience: new AudienceClient(mock.clientOptions) };
};
const contact = { email: "ada@example.com", email_opt_in: "SUBSCRIBED" } as const;

describe("A signal whose addEventListener throws", () => {
  const signal = signalWith({ addEventListener: hostile });

  it.each<[string, (audience: AudienceClient) => PromiseLike<unknown>]>([
    ["a call", ({ v1 }) => v1.customers.upsert(contact, { signal })],
    ["a page", ({ v1 }) => v1.customers.list({}, { signal })],
    ["a loop", ({ v1 }) => v1.customers.list({}, { signal }).toArray()],
    ["a run", (audience) => audience.bulk([contact], async () => 1, { signal }).summary()],
  ])("rejects %s with a ConfigurationError, each time, and nothing is sent", async (_, act) => {
    const { mock, audience } = client();

    // Twice: the second call adds no second listener to a known signal.
    const errors: AudienceError[] = [await failureOf(act(audience)), await failureOf(act(audience))];

    for (const error of errors) {
      expect(error).toBeInstanceOf(ConfigurationError);
      expect(error.message).toMatch(/^signal cannot be listened to/);
    }
    expect(mock.requests).toEqual([]);
  });

  it("only later ends a loop at the page of the read-ahead, without an unhandled rejection", async () => {
    const { mock, audience } = client();
    for (let row = 0; row < 3; row++) await audience.v1.customers.upsert({ ...contact, email: `a${row}@b` });
    const asked = mock.requests.length;
    let listens = 0;
    const late = signalWith({ addEventListener: () => (listens++ > 0 ? hostile() : undefined) });
    const loop = audience.v1.customers.list({ limit: 1 }, { signal: late }).pages()[Symbol.asyncIterator]();

    expect((await loop.next()).value).toMatchObject({ page: 1 });
    expect(await failureOf(loop.next())).toBeInstanceOf(ConfigurationError);
    expect(mock.requests.slice(asked)).toHaveLength(1);
  });
});

describe("A signal is refused", () => {
  it.each([["without removeEventListener", signalWith({ removeEventListener: 5 })]])(
    "%s",
    async (_, signal) => {
      const { mock, audience } = client();

      expect(await failureOf(audience.v1.customers.upsert(contact, { signal }))).toBeInstanceOf(
        ConfigurationError,
      );
      expect(mock.requests).toEqual([]);
    },
  );
});

it("A signal whose removeEventListener throws does not change the result", async () => {
  const { audience } = client();
  const signal = signalWith({ removeEventListener: hostile });

  expect(await audience.v1.customers.upsert(contact, { signal })).toMatchObject({ type: "profile" });
});

it("A signal whose reason throws still aborts the call", async () => {
  const mock = createMockService({ faults: [{ kind: "hang" }] });
  const { v1, bulk } = new AudienceClient(mock.clientOptions);
  const signalling = () => {
    const listeners: (() => void)[] = [];
    const signal = signalWith({
      addEventListener: (_: string, listener: () => void) => listeners.push(listener),
      get reason() {
        return hostile();
      },
    });
    return { signal, abort: () => listeners.forEach((listener) => listener()) };
  };
  const [ofCall, ofLoop, ofRun] = [signalling(), signalling(), signalling()];
  let endRow: () => void = () => undefined;
  const row = new Promise<void>((resolve) => (endRow = resolve));

  const errors = Promise.all([
    failureOf(v1.customers.upsert(contact, { signal: ofCall.signal })),
    failureOf(v1.customers.list({}, { signal: ofLoop.signal }).toArray()),
    failureOf(bulk([contact], () => row, { signal: ofRun.signal }).summary()),
  ]);
  await new Promise((resolve) => setImmediate(resolve));
  for (const { abort } of [ofCall, ofLoop, ofRun]) abort();
  endRow();

  expect((await errors).map(({ code }) => code)).toEqual(["aborted", "aborted", "aborted"]);
});
