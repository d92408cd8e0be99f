import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { gzipSync } from "node:zlib";
import { AudienceClient, TimeoutError } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { describe, expect, it } from "vitest";
import { blockFor, serveInThread } from "./answering-thread.ts";
import { failureOf } from "./failure.ts";
import { profileResponse } from "./served.ts";

const contact = { email: "ada@example.com", email_opt_in: "SUBSCRIBED" } as const;
const options = { apiKey: "k", rateLimiter: false, maxRetries: 0 } as const;
const profile = (length: number) => JSON.stringify({ ...profileResponse, note: "x".repeat(length) });

/** Calls back once Node has sent a request with its body. */
function onceSent(callback: () => void): void {
  const channel = "undici:request:bodySent";
  const listener = () => {
    unsubscribe(channel, listener);
    setImmediate(callback);
  };
  subscribe(channel, listener);
}

describe("A response that arrived while the event loop was blocked counts, although the time has passed", () => {
  it.each([
    ["timeoutMs", "a small body", profile(0), {}],
    ["timeoutMs", "a body of 100 kB", profile(100_000), {}],
    ["timeoutMs", "a compressed body", gzipSync(profile(100_000)), { "content-encoding": "gzip" }],
    ["deadlineMs", "a small body", profile(0), {}],
    ["deadlineMs", "a body of 100 kB", profile(100_000), {}],
  ])("of %s, with %s", async (option, _, body, headers) => {
    const server = await serveInThread(body, headers);
    const { v1 } = new AudienceClient({ ...options, baseUrl: server.url });
    onceSent(() => server.blockUntilAnswered(1_000));

    const { data, attempts } = await v1.customers.upsert(contact, { [option]: 300 }).withResponse();

    expect([data.id, attempts]).toEqual(["c-1", 1]);
  });

  it("for a key function", async () => {
    const server = await serveInThread("key-from-a-vault");
    const mock = createMockService();
    const keys: (string | null)[] = [];
    const { v1 } = new AudienceClient({
      ...options,
      baseUrl: "https://api.test",
      apiKey: async () => (await fetch(server.url, { method: "POST", body: "{}" })).text(),
      fetch: async (url, init) => {
        keys.push(new Headers(init.headers).get("x-api-key"));
        return await mock.fetch(url, {
          ...init,
          headers: { ...init.headers, "x-api-key": mock.clientOptions.apiKey },
        });
      },
    });
    onceSent(() => server.blockUntilAnswered(400));

    await v1.customers.upsert(contact, { timeoutMs: 300 });

    expect(keys).toEqual(["key-from-a-vault"]);
  });
});

it("Without a response a late timer ends the call all the same", async () => {
  const mock = createMockService({ faults: [{ kind: "hang" }] });
  const { v1 } = new AudienceClient({ ...mock.clientOptions, maxRetries: 0, timeoutMs: 50 });

  const failure = failureOf(v1.customers.upsert(contact));
  setImmediate(() => blockFor(100));

  expect(await failure).toBeInstanceOf(TimeoutError);
  expect(mock.requests).toHaveLength(1);
});

it.each([
  ["with a limiter", { rateLimiter: { windows: [{ limit: 10, intervalMs: 1_000 }] } }],
  ["without one", { rateLimiter: false }],
] as const)(
  "Nothing is sent after a deadline that passed while the event loop was blocked, %s",
  async (_, more) => {
    const mock = createMockService();
    const apiKey = () => {
      blockFor(100);
      return mock.clientOptions.apiKey;
    };
    const { v1 } = new AudienceClient({ ...mock.clientOptions, ...more, apiKey });

    const error = await failureOf(v1.customers.upsert(contact, { deadlineMs: 50 }));

    expect(error).toMatchObject({ code: "timeout", outcome: "not-sent", request: { attempts: 0 } });
    expect(error.message).toBe("The call did not end within its deadline of 50 ms.");
    expect(mock.requests).toEqual([]);
  },
);
