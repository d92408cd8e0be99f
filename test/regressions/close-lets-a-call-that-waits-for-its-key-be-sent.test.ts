import { AudienceClient, RateLimiter, type Checkpoint, type OpenCheckpoint } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { expect, it } from "vitest";
import { failureOf } from "../transport/failure.ts";

/** A promise and its resolve function. */
function promised<T>() {
  let resolve = (_value: T): void => undefined;
  const promise = new Promise<T>((settle) => void (resolve = settle));
  return { promise, resolve };
}

const closed = { code: "closed", message: "The client was closed." };

it("close() rejects a call that waits for its key, and the call is not sent when the key arrives", async () => {
  const mock = createMockService();
  const rateLimiter = new RateLimiter();
  const asked = promised<string>();
  const audience = new AudienceClient({ ...mock.clientOptions, rateLimiter, apiKey: () => asked.promise });

  const call = failureOf(audience.v1.customers.get("ada@example.com"));
  await audience.close();

  expect(await call).toMatchObject({ ...closed, outcome: "not-sent" });
  asked.resolve("mock-key");
  await Promise.resolve();
  expect(mock.requests).toEqual([]);
  expect(rateLimiter.usage().inFlight).toBe(0);
});

it("close() rejects a call that waits for a changed key after a 401, and the call is not sent again", async () => {
  const mock = createMockService();
  const second = promised<string>();
  let asked = 0;
  const audience = new AudienceClient({
    ...mock.clientOptions,
    apiKey: () => {
      if (asked++ === 0) return "a-key-that-was-rotated-away";
      second.resolve(mock.clientOptions.apiKey);
      // The client is closed while the key function is pending.
      void audience.close();
      return second.promise;
    },
  });

  const failure = await failureOf(audience.v1.customers.get("ada@example.com"));

  expect(failure).toMatchObject({ ...closed, outcome: "not-applied" });
  expect(mock.requests).toHaveLength(1);
});

it("close() rejects a row that waits for its checkpoint, and the row is not sent once it is recorded", async () => {
  const mock = createMockService();
  const rateLimiter = new RateLimiter();
  const audience = new AudienceClient({ ...mock.clientOptions, rateLimiter });
  const begun = promised<void>();
  const recorded = promised<void>();
  const rows = new Map<string, unknown>();
  const opened: OpenCheckpoint = {
    get: () => undefined,
    set: async (key, value) => {
      if (!key.startsWith("row:")) return;
      begun.resolve();
      if (value?.startsWith("in-doubt ")) await recorded.promise;
      rows.set(key, value);
    },
    clear() {},
    close() {},
  };
  const checkpoint: Checkpoint = { open: async () => opened };

  const run = audience.bulk(
    ["ada@example.com"],
    (email, request) => audience.v1.customers.upsert({ email }, request),
    { checkpoint, key: (email) => email },
  );
  const failure = failureOf(run[Symbol.asyncIterator]().next());
  await begun.promise;
  const isClosed = audience.close();
  recorded.resolve();
  await isClosed;

  // The row has no result and no record, because none of its requests was sent.
  expect(await failure).toMatchObject({ ...closed, outcome: "not-sent" });
  expect([...rows]).toEqual([["row:ada@example.com", undefined]]);
  expect(mock.requests).toEqual([]);
  expect(rateLimiter.usage().inFlight).toBe(0);
});
