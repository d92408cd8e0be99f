import {
  AudienceClient,
  type BulkRows,
  type Checkpoint,
  type ClientOptions,
  type Fetch,
  isAudienceError,
  RateLimiter,
  write,
} from "audience-sdk";
import { redisRateLimitStore } from "audience-sdk/redis";
import { describe, expect, it } from "vitest";
import { offline } from "../transport/fixture.ts";
import { hostileMessage, validEvent, validV1Contact } from "./hostile-values.ts";
import { tryEntryPoint } from "./try-entry-point.ts";

/** The ways in which a user's function can return a hostile value. */
const behaviors: readonly (readonly [string, (value: unknown) => () => unknown])[] = [
  ["gives it", (value) => () => value],
  ["gives a promise of it", (value) => async () => value],
  [
    "throws it",
    (value) => () => {
      throw value;
    },
  ],
];

/** The entries of a checkpoint: what a function gives for the first, and no further one. */
async function* entriesOf(first: () => unknown): AsyncGenerator {
  const entry = await first();
  if (entry !== undefined) yield entry;
}

/** A run rejects with the error that the caller's checkpoint or iterator throws. */
function unlessTheirs(error: unknown): void {
  if (error instanceof TypeError || (error instanceof Error && error.message === hostileMessage)) return;
  throw error;
}

describe.each(behaviors)("For any value of a user's function that %s", (_, behaviorOf) => {
  it("hooks and the logger do not change a call", async () => {
    const act = async (value: unknown) => {
      const own = behaviorOf(value) as () => undefined;
      const client = new AudienceClient({
        ...offline,
        logger: { debug: own, info: own, warn: own, error: own },
        logLevel: "debug",
        hooks: { onRequest: own, onResponse: own, onRetry: own, onThrottle: own },
      });
      expect((await client.v1.customers.get("contact-1")).id).toBe("contact-1");
    };
    await tryEntryPoint({ act });
  });

  it("parsePage finds items, or the call rejects with an SDK error", async () => {
    const act = async (value: unknown) => {
      const parsePage = behaviorOf(value) as NonNullable<ClientOptions["parsePage"]>;
      const client = new AudienceClient({ ...offline, parsePage });
      await client.v1.customers.list().toArray({ max: 3 });
    };
    const valid = [{ items: [{ id: "contact-1" }], totalPages: 1, totalItems: 1, hasNextPage: false }];
    await tryEntryPoint({ act, valid: [valid] });
  });

  it("the key is sent, or the call rejects with an SDK error", async () => {
    const act = async (value: unknown) => {
      const client = new AudienceClient({
        ...offline,
        apiKey: behaviorOf(value) as () => string,
        timeoutMs: 50,
      });
      await client.v1.events.send(validEvent);
    };
    await tryEntryPoint({ act, valid: [["test-key-0123456789"]] });
  });

  it("a Redis client works or is unavailable: the call is sent or refused", async () => {
    const act = async (value: unknown) => {
      const own = behaviorOf(value) as () => Promise<unknown>;
      const store = redisRateLimitStore({ evalsha: own, eval: own }, { onUnavailable: "reject" });
      const rateLimiter = new RateLimiter({ store, maxWaitMs: 50 });
      const client = new AudienceClient({ ...offline, rateLimiter });
      // The warning about an unavailable store contains the store's own message.
      await client.v1.events.send(validEvent, { deadlineMs: 100 }).catch((error: unknown) => {
        if (!isAudienceError(error)) throw error;
      });
    };
    const granted = JSON.stringify({
      granted: 1,
      waitMs: 0,
      ids: ["a"],
      now: 1,
      epoch: "e",
      taken: [0, 0, 0],
    });
    await tryEntryPoint({ act, valid: [[granted, "null", "[]", "{}"]] });
  });

  it("a checkpoint records the rows, or the run ends with an SDK error or the checkpoint's error", async () => {
    const opened = () => ({
      entries: entriesOf(() => undefined),
      put: async () => undefined,
      clear: async () => undefined,
      close: async () => undefined,
    });
    const target = { organization: "acme", families: {} };
    const run = { id: "id", number: 1, isOver: false, isKeyed: false, target };
    const entries = [
      ["run", JSON.stringify(run)],
      ["row:0123456789abcdef", "succeeded 1 0123456789abcdef - -"],
      ["refusal:0123456789abcdef", "1"],
    ];
    for (const part of ["open", "entries", "put", "clear", "close"] as const) {
      const act = async (value: unknown) => {
        const own = behaviorOf(value);
        const given = part === "entries" ? { entries: entriesOf(own) } : { [part]: own };
        const open = part === "open" ? own : async () => ({ ...opened(), ...given });
        const checkpoint = { open } as Checkpoint;
        const sending = offlineClient.bulk([validV1Contact, validV1Contact], upsert, { checkpoint });
        await sending.summary().catch((error: unknown) => {
          if (!Object.is(error, value)) unlessTheirs(error);
        });
      };
      await tryEntryPoint({ act, valid: [[opened(), ...entries]] });
    }
  });
});

const offlineClient = new AudienceClient(offline);
const upsert = (row: unknown) => write.v1.customers.upsert(row as { email: string });

describe("For any result of an iterator of rows", () => {
  const endless = { next: () => ({ done: false, value: validV1Contact }) };
  it.each([
    ["next", (value: unknown) => ({ next: () => value })],
    ["next, as a promise", (value: unknown) => ({ next: async () => value })],
    ["return", (value: unknown) => ({ ...endless, return: () => value })],
    ["return, as a promise", (value: unknown) => ({ ...endless, return: async () => value })],
    ["itself", (value: unknown) => value],
  ])(
    "from its %s, the run ends with results, an SDK error, or the iterator's error",
    async (from, iteratorOf) => {
      const isAsync = from.endsWith("promise");
      const act = async (value: unknown) => {
        // A loop does not await the results of an iterator that is not async.
        for (const kind of [...(isAsync ? [] : [Symbol.iterator]), Symbol.asyncIterator]) {
          let reads = 0;
          const iterator = iteratorOf(value);
          const rows = { [kind]: () => iterator } as unknown as BulkRows<unknown>;
          const run = offlineClient.bulk(rows, upsert);
          try {
            for await (const { index } of run) {
              expect(index).toBe(reads);
              // An iterator may be endless.
              if (++reads === 5) break;
            }
          } catch (error) {
            const isTheirs =
              error instanceof TypeError || (error instanceof Error && error.message === hostileMessage);
            if (!isTheirs && !Object.is(error, value)) throw error;
          }
        }
      };
      await tryEntryPoint({
        act,
        valid: [
          [
            { done: true, value: undefined },
            { done: false, value: validV1Contact },
          ],
        ],
      });
    },
  );
});

const text = '{"data":{"type":"profile","id":"contact-1","attributes":{"email":"ada@example.com"}}}';

function fails(): never {
  throw new Error(hostileMessage);
}

/** Bodies that no runtime's fetch returns. */
const unusualBodies: readonly (() => unknown)[] = [
  () => null,
  () => undefined,
  () => text,
  () => Buffer.from(text),
  () => ({ getReader: fails }),
  () => ({ getReader: () => undefined }),
  () => ({ getReader: () => ({ read: fails, cancel: fails }) }),
  () => ({ getReader: () => ({ read: async () => undefined, cancel: async () => undefined }) }),
  () => ({ getReader: () => ({ read: () => ({ done: false, value: "text" }), cancel: () => undefined }) }),
  () => ({ getReader: () => ({ read: async () => ({ done: false, value: new Uint8Array(0) }) }) }),
  () => ({ getReader: () => ({ read: () => new Promise(() => undefined), cancel: async () => fails() }) }),
  () => {
    const stream = new Response(text).body;
    stream?.getReader();
    return stream;
  },
  () =>
    new ReadableStream({
      pull(controller) {
        controller.enqueue("no bytes");
        controller.close();
      },
    }),
  () => new ReadableStream({ start: (controller) => controller.error(new Error(hostileMessage)) }),
  () => new ReadableStream({ start: (controller) => controller.error(undefined) }),
  () => new ReadableStream({ cancel: fails }),
  () => new ReadableStream({ pull: async (controller) => controller.enqueue(Buffer.alloc(70_000, "x")) }),
  () => Object.defineProperty({}, "getReader", { get: fails }),
];

/** A response of another implementation. A graft copies it, so each value gets its own body. */
const responseWith = (body: () => unknown) => ({
  status: 200,
  ok: true,
  url: "https://api.example.com/",
  headers: new Headers({ "retry-after": "1", "content-type": "application/json" }),
  get body() {
    return body();
  },
});
const responses = [
  responseWith(() => new Response(text).body),
  { ...responseWith(() => null), status: 500, ok: false },
  { ...responseWith(() => null), status: 302, headers: { get: fails, forEach: fails } },
  {
    ...responseWith(() => null),
    headers: { get: () => 5, forEach: (each: (value: unknown) => void) => each(5) },
  },
];

async function useAll(fetch: Fetch): Promise<void> {
  const client = new AudienceClient({ ...offline, fetch, timeoutMs: 40, maxResponseBytes: 100_000 });
  const asked = client.v1.customers.get("contact-1").withResponse();
  const calls = [asked, client.v1.events.send(validEvent), client.v2.lists.list().toArray({ max: 2 })];
  const endings = await Promise.allSettled(calls);
  for (const ending of endings) {
    if (ending.status === "fulfilled") JSON.stringify(ending.value);
    else if (!isAudienceError(ending.reason)) throw ending.reason;
    else expect(JSON.stringify(ending.reason)).not.toContain("test-key");
  }
  const failed = endings.find((ending) => ending.status === "rejected");
  if (failed) throw failed.reason;
}

describe("For any result of a custom fetch, a call returns a value or rejects with an SDK error", () => {
  it.each([
    ["as its promise's value", (value: unknown) => async () => value],
    ["at once", (value: unknown) => () => value],
    [
      "as the value that it throws",
      (value: unknown) => () => {
        throw value;
      },
    ],
    [
      "as the reason of its rejection",
      (value: unknown) => async () => {
        throw value;
      },
    ],
  ])("%s", async (_, fetchOf) => {
    // A caller in JavaScript can pass this.
    await tryEntryPoint({ act: (value) => useAll(fetchOf(value) as Fetch), valid: [responses] });
  });

  it.each(unusualBodies.map((body) => [String(body), body] as const))("with the body %s", async (_, body) => {
    for (const status of [200, 404, 500]) {
      const fetch = async () =>
        ({ ...responseWith(body), body: body(), status, ok: status === 200 }) as Response;
      await expect(
        useAll(fetch).catch((error: unknown) => isAudienceError(error) || error),
      ).resolves.toBeOneOf([undefined, true]);
    }
  });
});
