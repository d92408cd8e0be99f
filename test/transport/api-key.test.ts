import { AudienceClient, type ClientOptions, ConfigurationError, RateLimiter } from "audience-sdk";
import { createMockService, type MockServiceOptions } from "audience-sdk/mock";
import { afterEach, describe, expect, it, vi } from "vitest";
import { failureOf, thrownBy } from "./failure.ts";
import { contact, mockedClient } from "./fixture.ts";

afterEach(() => void vi.useRealTimers());

/** A service that accepts `keys`, and a client whose key function returns one after the other, and then always the last. */
function rotating(
  keys: readonly string[],
  given: readonly string[],
  mockOptions: MockServiceOptions = {},
  options: ClientOptions = {},
) {
  const mock = createMockService({
    organizations: [{ id: "org", apiKeys: keys, appId: "app" }],
    ...mockOptions,
  });
  let asked = 0;
  const apiKey = vi.fn(() => given[Math.min(asked++, given.length - 1)] ?? "");
  return { mock, apiKey, audience: new AudienceClient({ ...mock.clientOptions, apiKey, ...options }) };
}

describe("A key that is a function", () => {
  it("is called once the call has its permit, so that no key becomes old in the queue", async () => {
    vi.useFakeTimers();
    const rateLimiter = new RateLimiter({ windows: [{ limit: 1, intervalMs: 10_000 }] });
    const { mock, apiKey, audience } = rotating(["k-1", "k-2"], ["k-1", "k-2"], {}, { rateLimiter });

    const calls = Promise.all([audience.v1.customers.upsert(contact), audience.v1.customers.list()]);
    await vi.advanceTimersByTimeAsync(9_000);
    const askedBefore = apiKey.mock.calls.length;
    await vi.advanceTimersByTimeAsync(9_000);
    await calls;

    expect(askedBefore).toBe(1);
    expect(apiKey).toHaveBeenCalledTimes(2);
    expect(mock.requests.map(({ headers }) => headers["x-api-key"])).toEqual(["k-1", "k-2"]);
  });

  it.each<[string, string[], maxRetries: number, number[]]>([
    ["a different key is tried once, even with maxRetries 0", ["old", "right"], 0, [401, 201]],
    ["the second 401 is the error of the call", ["old", "older", "right"], 4, [401, 401]],
    ["the same key leads to no second attempt", ["old"], 4, [401]],
  ])("is called again after a 401: %s", async (_, given, maxRetries, statuses) => {
    const { mock, apiKey, audience } = rotating(["right"], given, {}, { maxRetries });

    const call = audience.v1.customers.upsert(contact).withResponse();

    if (statuses.at(-1) === 201) expect(await call).toMatchObject({ attempts: 2 });
    else
      expect(await failureOf(call)).toMatchObject({
        status: 401,
        outcome: "not-applied",
        request: { attempts: statuses.length },
      });
    expect(apiKey).toHaveBeenCalledTimes(2);
    expect(mock.requests.map(({ headers, status }) => [headers["x-api-key"], status])).toEqual(
      statuses.map((status, at) => [given[at], status]),
    );
  });

  it.each([
    ["fails", () => Promise.reject(new Error("vault is sealed")), "The apiKey function failed: Error"],
    ["gives nothing", () => "", "apiKey is empty."],
    ["gives a control character", () => "a\nb", /^apiKey holds a character/],
  ])(
    "that %s when it is called again leaves the 401 as the error, and is its cause",
    async (_, again, cause) => {
      let asked = 0;
      const { audience } = mockedClient({}, { apiKey: () => (asked++ === 0 ? "wrong" : again()) });

      const error = await failureOf(audience.v1.customers.upsert(contact));

      expect(error).toMatchObject({ status: 401 });
      expect(error.cause).toMatchObject({
        name: "ConfigurationError",
        message: expect.stringMatching(cause),
      });
    },
  );

  it("is not called again for a 401 that comes after the client was closed", async () => {
    const hooks = { onRequest: () => void audience.close() };
    const { audience, apiKey } = rotating(["new"], ["old", "new"], {}, { hooks });

    expect(await failureOf(audience.v1.customers.upsert(contact))).toMatchObject({
      status: 401,
      outcome: "not-applied",
    });
    expect(apiKey).toHaveBeenCalledTimes(1);
  });

  it("uses up no retry of the call when its key has changed", async () => {
    vi.useFakeTimers();
    const { mock, audience } = rotating(
      ["new"],
      ["old", "new"],
      { faults: [{ kind: "500-before", after: 1, times: 2 }] },
      { maxRetries: 2 },
    );

    const call = audience.v1.customers.upsert(contact).withResponse();
    await vi.advanceTimersByTimeAsync(10_000);

    expect((await call).attempts).toBe(4);
    expect(mock.requests.map(({ status }) => status)).toEqual([401, 500, 500, 201]);
  });

  it.each([
    ["an empty text", ""],
    ["a line break", "abc\n"],
    ["undefined", undefined],
  ])("that returns %s rejects the call with a ConfigurationError, and nothing is sent", async (_, key) => {
    const { mock, audience } = mockedClient({}, { apiKey: () => key as string });

    const errors = await Promise.all([
      failureOf(audience.v1.customers.upsert(contact)),
      failureOf(audience.v2.lists.list().then(String)),
    ]);

    for (const error of errors) {
      expect(error).toMatchObject({ code: "configuration", outcome: "not-sent", request: { attempts: 0 } });
      expect(error.message).toMatch(/^apiKey /);
    }
    expect(mock.requests).toEqual([]);
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("secret-of-the-vault");
      },
      "Error",
    ],
    ["rejects", () => Promise.reject(new RangeError("secret-of-the-vault")), "RangeError"],
    ["rejects with a text", () => Promise.reject("secret-of-the-vault"), "string"],
    ["rejects with nothing", () => Promise.reject(), "undefined"],
    [
      "rejects for a cause with a code",
      () => {
        const cause = Object.assign(new Error("secret-of-the-vault"), { code: "ENOTFOUND" });
        return Promise.reject(new TypeError("fetch failed", { cause }));
      },
      "TypeError (ENOTFOUND)",
    ],
    [
      "rejects as the client of a cloud does",
      () =>
        Promise.reject(
          Object.assign(new Error("secret-of-the-vault"), {
            name: "S3ServiceException",
            code: "ERR_NON_2XX_3XX_RESPONSE",
          }),
        ),
      "S3ServiceException (ERR_NON_2XX_3XX_RESPONSE)",
    ],
    [
      "rejects with a code that is no plain name",
      () => Promise.reject(Object.assign(new Error("x"), { code: "secret-of-the-vault" })),
      "Error",
    ],
    [
      "rejects with a name that is none, of another realm",
      () => Promise.reject({ name: "secret-of-the-vault", code: "invalid_grant" }),
      "object (invalid_grant)",
    ],
  ])(
    "that %s rejects the call with a ConfigurationError that names its type, and does not repeat its message",
    async (_, apiKey, kind) => {
      const { audience } = mockedClient({}, { apiKey: apiKey as () => Promise<string> });

      const error = await failureOf(audience.v1.customers.upsert(contact));

      expect(error).toMatchObject({ code: "configuration", message: `The apiKey function failed: ${kind}` });
      expect(JSON.stringify(error) + String(error.stack) + String(error.cause)).not.toContain(
        "secret-of-the-vault",
      );
    },
  );

  it("that fails shows no known key as the code of its error", async () => {
    const key = "MOCK_API_KEY_2";
    const apiKey = () => Promise.reject(Object.assign(new Error("x"), { code: key }));
    const { audience } = mockedClient({}, { apiKey, apiKeyV2: key });

    const error = await failureOf(audience.v1.customers.upsert(contact));

    expect(error.message).toBe("The apiKey function failed: Error ([redacted])");
  });

  it("that has returned leaves no timer behind", async () => {
    vi.useFakeTimers();
    const { audience } = rotating(["k-1"], ["k-1"]);
    const later = { ...createMockService().clientOptions, apiKey: async () => "mock-api-key-not-a-secret" };

    await audience.v1.customers.upsert(contact);
    await new AudienceClient(later).v1.customers.upsert(contact);

    expect(vi.getTimerCount()).toBe(0);
  });

  it("uses no permit if it fails", async () => {
    const mock = createMockService({ rateLimits: [{ limit: 1, intervalMs: 60_000 }] });
    let asked = 0;
    const apiKey = () => (asked++ === 0 ? "" : "mock-api-key-not-a-secret");
    const audience = new AudienceClient({ ...mock.clientOptions, apiKey });

    await failureOf(audience.v1.customers.upsert(contact));
    await audience.v1.customers.upsert(contact, { maxWaitMs: 0 });

    expect(mock.requests.map(({ status }) => status)).toEqual([201]);
  });

  it("is refused, after a 401 and with a new key, if its permit would come too late", async () => {
    const windows = [{ limit: 1, intervalMs: 60_000 }];
    const options = { rateLimiter: new RateLimiter({ windows }) };
    const { mock, audience } = rotating(["new"], ["old", "new"], {}, options);

    const failure = await failureOf(audience.v1.customers.get("anybody", { maxWaitMs: 0 }));

    expect(failure).toMatchObject({ code: "rate_limit_wait", outcome: "not-applied" });
    expect(mock.requests.map(({ status }) => status)).toEqual([401]);
  });

  it("that never settles is called again by each retry", async () => {
    const apiKey = vi.fn(() => new Promise<string>(() => {}));
    const { mock, audience } = mockedClient({}, { apiKey, maxRetries: 2, timeoutMs: 5 });

    const error = await failureOf(audience.v1.customers.get("c-1"));

    expect(error).toMatchObject({ code: "timeout", outcome: "not-sent" });
    expect(apiKey).toHaveBeenCalledTimes(3);
    expect(mock.requests).toEqual([]);
  });
});

describe("A key that is a string", () => {
  const beyond = (position: number) =>
    `holds a character that no HTTP header can carry, at position ${position}`;
  const framed = "begins or ends with white space, such as a line break: trim it";
  it.each([
    ["", "is empty"],
    ["   ", "is empty"],
    ["abc\r\n", framed],
    ["a\0b", beyond(2)],
    ["a\tb", beyond(2)],
    [" a", framed],
    ["schl\u00fcssel", beyond(5)],
    ["\u200b", beyond(1)],
    ["a\r\nX-Evil: 1", beyond(2)],
    ["Bearer abcdefgh", 'begins with "Bearer": give the key alone, as each family has a header of its own'],
  ])("cannot be %j: the constructor throws an error that says that it %s", (key, problem) => {
    const { clientOptions } = createMockService();

    for (const name of ["apiKey", "apiKeyV2"] as const) {
      const error = thrownBy(() => new AudienceClient({ ...clientOptions, [name]: key }));
      expect(error).toMatchObject({ code: "configuration", message: `${name} ${problem}.` });
    }
    expect(thrownBy(() => new AudienceClient({ ...clientOptions, appId: key }))).toBeInstanceOf(
      ConfigurationError,
    );
  });
});
