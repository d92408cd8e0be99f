import { type AudienceClient, type BulkRows, ValidationError } from "audience-sdk";
import { describe, expect, it, vi } from "vitest";
import {
  type Row,
  collectRun,
  createFixture,
  deferred,
  flushEventLoop,
  key,
  row,
  rows,
  until,
  upsert,
} from "./fixture.ts";
import { MemoryCheckpoint } from "./memory-checkpoint.ts";

it("Rows may come from an iterator that has no return(), of which the loop is left early", async () => {
  const { audience } = createFixture();
  let next = 0;
  const source = { [Symbol.iterator]: () => ({ next: () => ({ done: false, value: row(next++) }) }) };

  for await (const _ of audience.bulk(source, upsert, { concurrency: 2 })) break;

  expect(next).toBeLessThanOrEqual(3);
});

describe("Rows are read only as fast as they are sent", () => {
  it("at most `concurrency` rows are read ahead of a slow consumer", async () => {
    const { audience } = createFixture();
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

  it("rows of one contact reach the service in their order, also with a checkpoint", async () => {
    const { audience, mock } = createFixture({ latencyMs: [0, 2] });
    const twins = rows(40).flatMap((each) => [each, { ...each, email_opt_in: "UNSUBSCRIBED" as const }]);

    await audience.bulk(twins.values(), upsert, { checkpoint: new MemoryCheckpoint(), concurrency: 8 });

    const sent = mock.requests.map(({ body }) => body as Row);
    for (const { email } of rows(40))
      expect(sent.filter((each) => each.email === email)).toEqual(
        twins.filter((each) => each.email === email),
      );
  });
});

describe("A source that fails", () => {
  const error = new Error("the file broke off");
  const closing = new Error("cannot close");
  const fails = (thrown: unknown) => () => {
    throw thrown;
  };

  it("ends the run with its error, after the calls in flight have ended and are recorded", async () => {
    const { audience, mock, emails } = createFixture({ latencyMs: 5 });
    const checkpoint = new MemoryCheckpoint();
    async function* source() {
      yield* rows(3);
      await until(() => mock.requests.length === 3);
      throw error;
    }
    const run = audience.bulk(source(), upsert, { checkpoint, key });

    const end = await collectRun(run);

    expect(end.error).toBe(error);
    await expect(run.summary()).rejects.toBe(error);
    expect([end.results.length, emails().length, checkpoint.log.at(-1)]).toEqual([3, 3, "close"]);
    expect(await audience.bulk(rows(3), upsert, { checkpoint, key })).toMatchObject({ skipped: 3 });
  });

  it.each<[string, () => BulkRows<Row>]>([
    ["its iterator cannot be created", () => ({ [Symbol.iterator]: fails(error) })],
    ["its function throws", () => fails(error)],
    ["a promise of it rejects", () => [Promise.reject(error), row(0)]],
    [
      "its cleanup fails too",
      () => ({ [Symbol.iterator]: () => ({ next: fails(error), return: fails(closing) }) }),
    ],
  ])("ends the run with that error, to which nothing is added: %s", async (_, source) => {
    const { audience } = createFixture();

    await expect(audience.bulk(source(), upsert).summary()).rejects.toBe(error);
    await expect(audience.bulk.check(source(), upsert)).rejects.toBe(error);
    expect(error).not.toHaveProperty("outcome");
  });

  it("in its second pass ends the run with its error, after the refusals", async () => {
    const { audience, emails } = createFixture();
    const refusal: Row = { ...row(1), email_opt_in: "UNSUBSCRIBED" };
    let passes = 0;
    const source = () => (++passes === 1 ? [row(0), refusal] : fails(error)());

    expect(await collectRun(audience.bulk(source, upsert))).toMatchObject({ error, results: [{ index: 1 }] });
    expect(emails()).toEqual([refusal.email]);
  });

  it("in its cleanup after an early end of the loop does not keep the checkpoint open", async () => {
    // No row is being read as the loop ends: the run has waited for no turn of the event loop.
    vi.spyOn(performance, "now").mockReturnValue(0);
    const { audience } = createFixture();
    const checkpoint = new MemoryCheckpoint();
    let next = 0;
    const source = {
      [Symbol.iterator]: () => ({
        next: () => ({ done: false, value: row(next++) }),
        return: fails(closing),
      }),
    };
    const leave = async () => {
      for await (const _ of audience.bulk(source, upsert, { checkpoint })) break;
    };

    await expect(leave()).rejects.toBe(closing);
    expect(checkpoint.log.at(-1)).toBe("close");
  });
});

describe("A source that hangs", () => {
  const cleanUps: [string, () => Promise<never>][] = [
    ["may fail", () => Promise.reject(new Error("the connection is gone"))],
    // As that of an async generator, behind its next row.
    ["may not end", () => deferred<never>().promise],
  ];
  const ends: [string, (audience: AudienceClient, stop: AbortController) => unknown, unknown][] = [
    ["an abort", (_, stop) => stop.abort(), expect.objectContaining({ code: "aborted" })],
    ["a close", (audience) => audience.close(), expect.objectContaining({ code: "closed" })],
    ["the end of the loop", () => undefined, undefined],
  ];

  describe.each(ends)("does not delay %s", (_, end, expected) => {
    it.each(cleanUps)("and its cleanup %s", async (__, cleanUp) => {
      const { audience, emails } = createFixture();
      let reads = 0;
      const source = {
        [Symbol.asyncIterator]: () => ({
          next: async () =>
            reads++ === 0 ? { done: false as const, value: row(0) } : await deferred<never>().promise,
          return: cleanUp,
        }),
      };
      const stop = new AbortController();
      const statuses: string[] = [];
      const consume = async () => {
        for await (const { status } of audience.bulk(source, upsert, { signal: stop.signal })) {
          statuses.push(status);
          await until(() => reads === 2);
          void end(audience, stop);
          if (expected === undefined) break;
        }
      };

      expect(await consume().catch((error: unknown) => error)).toEqual(expected);

      expect([statuses, emails()]).toEqual([["succeeded"], [row(0).email]]);
    });
  });
});

it("Leaving the loop early starts no further call, and waits for the calls in flight", async () => {
  const { mock, audience: probe } = createFixture();
  const checkpoint = new MemoryCheckpoint();
  const responses = [deferred(), deferred(), deferred(), deferred()];
  const sent: number[] = [];
  const audience = probe.withOptions({
    fetch: async (url, init) => {
      const index = Number(/row-(\d)/.exec(String(init.body))![1]);
      sent.push(index);
      await responses[index]!.promise;
      return await mock.fetch(url, init);
    },
  });
  const left = (async () => {
    for await (const _ of audience.bulk(rows(4), upsert, { checkpoint, concurrency: 2, key })) break;
    checkpoint.log.push("left" as never);
  })();
  await until(() => sent.length === 2);

  responses[0]!.resolve();
  await flushEventLoop();
  expect(checkpoint.log).not.toContain("close");
  for (const response of responses) response.resolve();
  await left;

  expect(sent.length).toBeLessThanOrEqual(3);
  expect(checkpoint.log.slice(-2)).toEqual(["close", "left"]);
});

describe("A source that never waits does not block the event loop", () => {
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

  it.each(["in a run", "in its first pass"])("%s: a timer can abort it", async (where) => {
    const many = endless();
    const source = where === "in a run" ? many : () => many;

    const run = idle.bulk(source, refused, { signal: AbortSignal.timeout(20) });

    await expect(run.summary()).rejects.toMatchObject({ code: "aborted" });
    expect(many.read).toBeLessThan(enough);
  });
});

const setBackAnHour = () => void vi.setSystemTime(Date.now() - 3_600_000);

/** A client whose requests wait, each until it is let through. */
function waitingCalls() {
  const { mock, audience } = createFixture();
  const calls: (() => void)[] = [];
  const fetch = async (url: string, init: RequestInit) => {
    const { promise, resolve } = deferred();
    calls.push(resolve);
    await promise;
    return await mock.fetch(url, init);
  };
  return { calls, audience: audience.withOptions({ fetch }) };
}

describe("A system clock that is set back an hour holds up no run", () => {
  it.each([0, 1, 2, 20])("after row %i", async (count) => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const { audience, emails } = createFixture();
    const run = audience.bulk(rows(30), upsert);
    let done = 0;
    if (count === 0) setBackAnHour();

    for await (const _ of run) if (++done === count) setBackAnHour();

    expect(emails()).toHaveLength(30);
  });
});

it("A run ends under fake timers, though no time passes", async () => {
  vi.useFakeTimers();
  const { audience, emails } = createFixture();

  const summary = await audience.bulk(rows(30), upsert);

  expect(summary).toMatchObject({ total: 30, succeeded: 30 });
  expect(emails()).toHaveLength(30);
});

describe("Under way", () => {
  it.each<[number, object]>([
    [6, { concurrency: 6 }],
    [10, {}],
    [1, { concurrency: 1 }],
  ])("are %i rows with %j, and a row that ends is replaced at once", async (concurrency, options) => {
    // Timers fire where the test advances them; the rows wait for none, as no turn of the event loop takes any time.
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    vi.spyOn(performance, "now").mockReturnValue(0);
    const { calls, audience } = waitingCalls();
    const begun: number[] = [];

    const run = audience.bulk(rows(12), upsert, options).summary();
    await vi.advanceTimersByTimeAsync(100);
    begun.push(calls.length);
    // No timer fires from here on.
    for (const end of calls) {
      end();
      await flushEventLoop();
      begun.push(calls.length);
    }

    expect(await run).toMatchObject({ succeeded: 12 });
    expect(begun).toEqual(Array.from({ length: 13 }, (_, ended) => Math.min(12, ended + concurrency)));
  });

  it("is one reading at a time, of a source that must not be asked for two rows at once", async () => {
    const { audience } = createFixture();
    let [reading, most, next] = [0, 0, 0];
    const items = rows(30);
    const source = {
      [Symbol.asyncIterator]: () => ({
        async next() {
          most = Math.max(most, ++reading);
          await flushEventLoop();
          reading--;
          const value = items[next++];
          return value ? { done: false as const, value } : { done: true as const, value: undefined };
        },
      }),
    };

    expect(await audience.bulk(source, upsert)).toMatchObject({ total: 30, succeeded: 30 });
    expect({ most, next }).toEqual({ most: 1, next: 31 });
  });
});

it("A run ends while a test makes Math.random a constant", async () => {
  vi.spyOn(Math, "random").mockReturnValue(0.5);
  const { audience, mock } = createFixture();

  const summary = await audience.bulk(rows(25), upsert, { concurrency: 3 });

  expect(summary).toMatchObject({ total: 25, succeeded: 25 });
  expect(new Set(mock.requests.map(({ body }) => body)).size).toBe(25);
});
