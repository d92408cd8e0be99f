import {
  AudienceClient,
  isAudienceError,
  RateLimiter,
  type BulkRows,
  type Checkpoint,
  type ClientOptions,
} from "audience-sdk";
import { redisRateLimitStore } from "audience-sdk/redis";
import { describe, expect, it } from "vitest";
import { offline } from "../transport/fixture.ts";
import { hostileMessage } from "./build-value.ts";
import { tryEntryPoint } from "./try-entry-point.ts";
import { validEvent, validV1Contact } from "./valid-inputs.ts";

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

/** The lines of a checkpoint: what a function gives for the first, and no further one. */
async function* linesOf(first: () => unknown): AsyncGenerator {
  const line = await first();
  if (line !== undefined) yield line;
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
    await tryEntryPoint({ act }, 60);
  });

  it("parsePage finds items, or the call rejects with an SDK error", async () => {
    const act = async (value: unknown) => {
      const parsePage = behaviorOf(value) as NonNullable<ClientOptions["parsePage"]>;
      const client = new AudienceClient({ ...offline, parsePage });
      await client.v1.customers.list().toArray({ max: 3 });
    };
    const valid = [{ items: [{ id: "contact-1" }], totalPages: 1, totalItems: 1, hasNextPage: false }];
    await tryEntryPoint({ act, valid: [valid] }, 80);
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
    await tryEntryPoint({ act, valid: [["test-key-0123456789"]] }, 60);
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
    await tryEntryPoint({ act, valid: [[granted, "null", "[]", "{}"]] }, 60);
  });

  it("a checkpoint records the rows, or the run ends with an SDK error or the checkpoint's error", async () => {
    const opened = () => ({
      lines: linesOf(() => undefined),
      append: async () => undefined,
      rewrite: async () => undefined,
      close: async () => undefined,
    });
    const target = { organization: "acme", families: {} };
    const lines = [
      JSON.stringify(["run", "id", false, target]),
      JSON.stringify(["sends", "0123456789abcdef", "0123456789abcdef", "", false]),
      JSON.stringify(["over"]),
    ];
    for (const part of ["open", "lines", "append", "rewrite", "close"] as const) {
      const act = async (value: unknown) => {
        const own = behaviorOf(value);
        const given = part === "lines" ? { lines: linesOf(own) } : { [part]: own };
        const open = part === "open" ? own : async () => ({ ...opened(), ...given });
        const checkpoint = { open } as Checkpoint;
        const run = client.bulk([validV1Contact, validV1Contact], send, { checkpoint });
        await run.summary().catch((error: unknown) => {
          if (!Object.is(error, value)) unlessTheirs(error);
        });
      };
      await tryEntryPoint({ act, valid: [[opened(), ...lines]] }, 30);
    }
  });
});

const client = new AudienceClient(offline);
const send = (row: unknown, request: object) => client.v1.customers.upsert(row as { email: string }, request);

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
    async (_, iteratorOf) => {
      const act = async (value: unknown) => {
        for (const kind of [Symbol.iterator, Symbol.asyncIterator]) {
          let reads = 0;
          const iterator = iteratorOf(value);
          const rows = { [kind]: () => iterator } as unknown as BulkRows<unknown>;
          const run = client.bulk(rows, send);
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
      await tryEntryPoint(
        {
          act,
          valid: [
            [
              { done: true, value: undefined },
              { done: false, value: validV1Contact },
            ],
          ],
        },
        60,
      );
    },
  );
});
