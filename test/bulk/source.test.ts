import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { AbortError, ValidationError, type BulkRequest } from "audience-sdk";
import { describe, expect, it } from "vitest";
import {
  collectRun,
  key,
  deferred,
  row,
  rows,
  createFixture,
  flushEventLoop,
  until,
  type Row,
} from "./fixture.ts";
import { MemoryCheckpoint } from "./memory-checkpoint.ts";

describe("Rows may come from any iterable", () => {
  it.each([
    ["an array", () => rows(3)],
    ["a set", () => new Set(rows(3))],
    ["a generator", () => rows(3).values()],
    [
      "an async generator",
      async function* () {
        yield* rows(3);
      },
    ],
    ["a stream", () => Readable.from(rows(3))],
  ] as [string, () => Iterable<Row>][])("%s", async (_, source) => {
    const { audience, upsert, emails } = createFixture();

    expect(await audience.bulk(source(), upsert).summary()).toMatchObject({ total: 3, succeeded: 3 });
    expect(emails()).toEqual(rows(3).map(({ email }) => email));
  });

  it("an object with both iterators is read through the async one", async () => {
    const { audience, upsert, emails } = createFixture();
    const source = {
      *[Symbol.iterator]() {
        yield row(0);
      },
      async *[Symbol.asyncIterator]() {
        yield row(1);
      },
    };

    await audience.bulk(source, upsert).summary();

    expect(emails()).toEqual([row(1).email]);
  });

  it("an iterator that has no return(), left early", async () => {
    const { audience, upsert } = createFixture();
    let next = 0;
    const source = { [Symbol.iterator]: () => ({ next: () => ({ done: false, value: row(next++) }) }) };

    for await (const _ of audience.bulk(source, upsert, { concurrency: 2 })) break;

    expect(next).toBeLessThanOrEqual(3);
  });
});

it.each([
  ["may fail", () => Promise.reject(new Error("the connection is gone"))],
  // As that of an async generator, behind its next row.
  ["may not end", () => deferred<never>().promise],
])(
  "a source that waits for its next row when the run is aborted holds up no run, and its cleanup %s",
  async (_, cleanUp) => {
    const { audience, upsert } = createFixture();
    const controller = new AbortController();
    const source = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise<never>(() => controller.abort("enough")),
        return: cleanUp,
      }),
    };

    const run = audience.bulk(source, upsert, { signal: controller.signal });

    await expect(run.summary()).rejects.toMatchObject({ code: "aborted", cause: "enough" });
  },
);

describe("Rows are read only as fast as they are sent", () => {
  it("rows are read only as fast as their results are consumed", async () => {
    const { audience } = createFixture();
    const log: string[] = [];
    function* source() {
      for (const each of rows(4)) {
        log.push(`read ${each.email[4]}`);
        yield each;
      }
    }
    const run = audience.bulk(source(), async ({ email }) => void log.push(`call ${email[4]}`), {
      concurrency: 1,
    });

    for await (const { index } of run) {
      log.push(`take ${index}`);
      await flushEventLoop();
    }

    expect(log.join(", ").split(/, (?=read)/)).toEqual([
      "read 0, call 0, take 0",
      "read 1, call 1, take 1",
      "read 2, call 2, take 2",
      "read 3, call 3, take 3",
    ]);
  });

  it("at most `concurrency` rows are read ahead of a slow consumer", async () => {
    const { audience, upsert } = createFixture();
    let [read, consumed, most] = [0, 0, 0];
    function* source() {
      for (const each of rows(60)) {
        most = Math.max(most, ++read - consumed);
        yield each;
      }
    }

    for await (const _ of audience.bulk(source(), upsert, { concurrency: 5 })) {
      // Each other row that may be read has been read before this result counts as consumed.
      await until(() => read === Math.min(60, consumed + 5));
      await flushEventLoop();
      consumed++;
    }

    expect({ read, most }).toEqual({ read: 60, most: 5 });
  });

  it.each([
    [4, { concurrency: 4 }],
    [10, {}],
  ])("at most `concurrency` calls, ten by default, are in flight: %i", async (limit, options) => {
    const { audience } = createFixture();
    let [begun, underWay, most] = [0, 0, 0];
    const call = async () => {
      most = Math.max(most, ++underWay);
      const inOrder = Math.ceil(++begun / limit) * limit;
      await until(() => begun >= Math.min(30, inOrder));
      await flushEventLoop();
      underWay--;
    };

    await audience.bulk(rows(30), call, options).summary();

    expect(most).toBe(limit);
  });

  it("the calls begin in the order of the rows, and reach the service in it for each contact, also with a checkpoint", async () => {
    const { audience, mock, upsert } = createFixture();
    const twins = rows(40).flatMap((each) => [each, { ...each, email_opt_in: "UNSUBSCRIBED" as const }]);
    const begun: Row[] = [];
    const call = (item: Row, request: BulkRequest) => {
      begun.push(item);
      return upsert(item, request);
    };

    await audience.bulk(twins, call, { checkpoint: new MemoryCheckpoint(), concurrency: 8 }).summary();

    expect(begun).toEqual(twins);
    const sent = mock.requests.map(({ body }) => body as Row);
    for (const { email } of rows(40))
      expect(sent.filter((each) => each.email === email)).toEqual(
        twins.filter((each) => each.email === email),
      );
    expect(
      mock
        .organization("mock-organization")
        .contacts.every((contact) => contact.email_opt_in === "UNSUBSCRIBED"),
    ).toBe(true);
  });

  it("a row begins after the end of the row before with the same key, with or without a checkpoint", async () => {
    const { audience } = createFixture();
    for (const checkpoint of [undefined, new MemoryCheckpoint()]) {
      const log: string[] = [];
      const call = async (item: string) => {
        log.push(`begin ${item}`);
        // By then a row that waited for nothing would have begun.
        await sleep(20);
        log.push(`end ${item}`);
      };

      const run = audience.bulk(["b1", "a1", "a2", "a3"], call, { key: ([first]) => first!, checkpoint });
      expect((await collectRun(run)).results.map(({ status }) => status)).toEqual(Array(4).fill("succeeded"));

      const ofA = log.filter((entry) => entry.includes("a"));
      expect(ofA).toEqual(["begin a1", "end a1", "begin a2", "end a2", "begin a3", "end a3"]);
    }
  });
});

describe("A source that fails", () => {
  it("ends the run with its error, after the calls in flight have ended and are recorded", async () => {
    const { audience, mock, emails } = createFixture({ latencyMs: 5 });
    const error = new Error("the file broke off");
    const checkpoint = new MemoryCheckpoint();
    async function* source() {
      yield* rows(3);
      await until(() => mock.requests.length === 3);
      throw error;
    }
    const upsert = (item: Row, request: BulkRequest) => audience.v1.customers.upsert(item, request);
    const run = audience.bulk(source(), upsert, { checkpoint, key });

    const end = await collectRun(run);

    expect(end.error).toBe(error);
    await expect(run.summary()).rejects.toBe(error);
    expect(end.results).toHaveLength(3);
    expect(emails()).toHaveLength(3);
    expect(checkpoint.log.at(-1)).toBe("close");
    expect(await audience.bulk(rows(3), upsert, { checkpoint, key })).toMatchObject({ skipped: 3 });
  });

  it("ends the run where its iterator cannot be created", async () => {
    const { audience, upsert } = createFixture();
    const error = new Error("no such file");
    const source = {
      [Symbol.iterator](): Iterator<Row> {
        throw error;
      },
    };

    await expect(audience.bulk(source, upsert).summary()).rejects.toBe(error);
    // It is the caller's: nothing is added to it.
    expect(error).not.toHaveProperty("outcome");
  });

  it("in its cleanup after an early end of the loop does not keep the checkpoint open", async () => {
    const { audience, upsert } = createFixture();
    const checkpoint = new MemoryCheckpoint();
    const error = new Error("cannot close");
    let next = 0;
    const source = {
      [Symbol.iterator]: () => ({
        next: () => ({ done: false, value: row(next++) }),
        return: () => {
          throw error;
        },
      }),
    };
    const leave = async () => {
      for await (const _ of audience.bulk(source, upsert, { checkpoint })) break;
    };

    await expect(leave()).rejects.toBe(error);
    expect(checkpoint.log.at(-1)).toBe("close");
  });

  it("is closed when the run ends before it, so that it can clean up", async () => {
    const { audience, upsert } = createFixture();
    let isClosed = false;
    function* source() {
      try {
        yield* rows(1_000);
      } finally {
        isClosed = true;
      }
    }

    for await (const _ of audience.bulk(source(), upsert)) break;

    expect(isClosed).toBe(true);
  });

  it.each([
    ["has ended", () => ({ done: true, value: undefined }), undefined],
    [
      "has failed",
      () => {
        throw new Error("the file broke off");
      },
      "the file broke off",
    ],
  ])("is not closed when it ended before: it %s", async (_, next, message) => {
    const { audience, upsert } = createFixture();
    let notified = 0;
    const iterator = { next, return: () => ({ done: true, value: (notified += 1) }) };
    const source = { [Symbol.iterator]: () => iterator } as unknown as Iterable<Row>;

    const { error } = await collectRun(audience.bulk(source, upsert));

    expect((error as Error | undefined)?.message).toBe(message);
    expect(notified).toBe(0);
  });

  it("that hangs in its cleanup does not make an abandoned loop fail", async () => {
    const { audience, upsert } = createFixture();
    const source = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise<never>(() => {}),
        return: () => Promise.reject(new Error("the file cannot be closed")),
      }),
    };
    const stop = new AbortController();
    const end = collectRun(audience.bulk(source, upsert, { signal: stop.signal }));
    await flushEventLoop();

    stop.abort();

    expect((await end).error).toBeInstanceOf(AbortError);
    await flushEventLoop();
  });

  it("that hangs delays neither an abort nor the end of the loop", async () => {
    const { audience, upsert, emails } = createFixture();
    const source = async function* () {
      yield row(0);
      await new Promise<never>(() => {});
    };
    const stop = new AbortController();
    const aborted = collectRun(audience.bulk(source(), upsert, { signal: stop.signal }));
    const left = async () => {
      for await (const _ of audience.bulk(source(), upsert)) break;
    };
    await flushEventLoop();
    stop.abort();

    expect((await aborted).error).toBeInstanceOf(AbortError);
    await left();
    expect(emails()).toEqual([row(0).email]);
  });
});

it("Leaving the loop early starts no further call, and waits for the calls in flight", async () => {
  const { audience } = createFixture();
  const checkpoint = new MemoryCheckpoint();
  const responses = [deferred(), deferred(), deferred(), deferred()];
  const called: number[] = [];
  const call = async (item: Row) => {
    const index = Number(item.email[4]);
    called.push(index);
    await responses[index]?.promise;
  };
  const left = (async () => {
    for await (const _ of audience.bulk(rows(4), call, {
      checkpoint,
      concurrency: 2,
      key: ({ email }) => email.charAt(4),
    }))
      break;
    checkpoint.log.push("left");
  })();
  await until(() => called.length === 2);

  responses[0]?.resolve();
  await flushEventLoop();
  expect(checkpoint.log).not.toContain("close");
  responses[1]?.resolve();
  responses[2]?.resolve();
  await left;

  expect(called.length).toBeLessThanOrEqual(3);
  expect(checkpoint.log.slice(-2)).toEqual(["close", "left"]);
});

const enough = 300_000;
const { audience: idle } = createFixture();
const refused = () => {
  throw new ValidationError([{ path: [], code: "custom", message: "is refused" }]);
};

/** A practically endless source of rows; `read` counts the rows so far. */
function endless() {
  const many = {
    read: 0,
    *[Symbol.iterator]() {
      while (many.read < enough) yield (many.read += 1);
    },
  };
  return many;
}

describe("A source that never waits does not block the event loop", () => {
  it("in a run: a timer can abort it", async () => {
    const many = endless();

    const run = idle.bulk(many, refused, { signal: AbortSignal.timeout(20) });

    await expect(run.summary()).rejects.toMatchObject({ code: "aborted" });
    expect(many.read).toBeLessThan(enough);
  });

  it("in a check: a timer comes before its end", async () => {
    const log: string[] = [];
    setTimeout(() => log.push("timer"), 0);

    await idle.bulk.check(endless(), () => ({ success: true }));
    log.push("check");

    expect(log).toEqual(["timer", "check"]);
  });
});
