import { type AudienceClient, type Checkpoint, type V2Contact, write } from "audience-sdk";
import type { OpenCheckpoint } from "audience-sdk/checkpoint";
import { describe, expect, it, vi } from "vitest";
import {
  collectRun,
  createFixture,
  deferred,
  key,
  passUntil,
  passUntilSettled,
  row,
  rows,
  until,
  upsert,
  useFakeTime,
  v2Contact,
} from "./fixture.ts";
import { MemoryCheckpoint } from "./memory-checkpoint.ts";

/** A checkpoint whose open one is another. */
function changed(
  checkpoint: Checkpoint,
  change: (opened: OpenCheckpoint) => { [Name in keyof OpenCheckpoint]?: unknown },
): Checkpoint {
  // Safe: as far as a test needs it. A program in JavaScript can give anything.
  return {
    open: async () =>
      ({ ...((opened) => ({ ...opened, ...change(opened) }))(await checkpoint.open()) }) as never,
  };
}

const never = () => new Promise<never>(() => {});
const away = new Error("the database is away");

describe("A Checkpoint of one's own is a table of names and lines", () => {
  it("whose names and lines are ASCII, of at most 200 and 2,000 characters, whatever is recorded", async () => {
    // `MemoryCheckpoint` refuses others, and a `put` before its `entries` were read.
    const { mock } = createFixture();
    const ids = ["x".repeat(3_000), "ü".repeat(600), "\u{1f600} é, : -"];
    const fetch = async (url: string, init: RequestInit) => {
      const response = await mock.fetch(url, init);
      if (!url.includes("/customer/create")) return response;
      const body = (await response.json()) as { data: { id: string } };
      const id = ids[mock.requests.length - 1]!;
      return Response.json({ data: { ...body.data, id } });
    };
    const { audience } = createFixture({}, { ...mock.clientOptions, fetch });
    const checkpoint = new MemoryCheckpoint();
    const options = {
      checkpoint,
      organization: "Ünïcörn „GmbH“ 株式会社 %23 \ud800 \u{1f984}".padEnd(100, "社"),
    };

    expect(await audience.bulk(rows(3), upsert, { key, ...options })).toMatchObject({ succeeded: 3 });

    expect(await audience.bulk(rows(3), upsert, { key, ...options })).toMatchObject({ skipped: 3 });
    // An id that does not fit is not recorded.
    const lines = [...checkpoint.entries.values()].filter((line) => line.startsWith("["));
    expect(lines.map((line) => (JSON.parse(line) as unknown[])[3])).toEqual([undefined, undefined, ids[2]]);
  });

  it.each(["push ü\ud800", "x".repeat(3_000)])(
    "and so it is with a channel of any name: %s",
    async (channel) => {
      const { audience } = createFixture();
      const options = { checkpoint: new MemoryCheckpoint(), key: ({ firstName }: V2Contact) => firstName };
      const person = (firstName: string, status: string): V2Contact => {
        const { identifiers, ...contact } = v2Contact("ada@example.com", "subscribed");
        return {
          ...contact,
          firstName,
          identifiers: identifiers.map((each) => ({
            ...each,
            channels: { ...each.channels, [channel]: { status } },
          })),
        };
      };
      const nights = [person("Ada", "unsubscribed"), person("Eve", "subscribed")];
      const sent = (contact: V2Contact) => write.v2.contacts.upsert(contact);

      expect(await audience.bulk(nights, sent, options)).toMatchObject({ succeeded: 2, kept: 1 });
      expect(await audience.bulk(nights, sent, options)).toMatchObject({ skipped: 2 });
    },
  );

  it("into which several `put`s may be under way", async () => {
    const { audience } = createFixture();
    const { promise: open, resolve } = deferred();
    let [underWay, most] = [0, 0];
    const checkpoint = changed(new MemoryCheckpoint(), (opened) => ({
      put: async (...given: Parameters<OpenCheckpoint["put"]>) => {
        if (given[0].startsWith("row:")) {
          most = Math.max(most, (underWay += 1));
          if (most === 3) resolve();
          await open;
          underWay -= 1;
        }
        await opened.put(...given);
      },
    }));

    const run = audience.bulk(rows(3), upsert, { key, checkpoint, concurrency: 3 });

    expect(await run).toMatchObject({ succeeded: 3 });
    expect(most).toBe(3);
  });

  it("in which what must be stored is what a loss of power must not take: the run, its end, and rows that were recorded before or must not be repeated", async () => {
    const { audience } = createFixture();
    const checkpoint = new MemoryCheckpoint();
    const flushes = async (items: readonly object[]) => {
      const before = checkpoint.puts.length;
      await audience.bulk(items as ReturnType<typeof rows>, upsert, { key, checkpoint, checkConsent: false });
      const puts = checkpoint.puts.slice(before).filter(({ flush }) => flush);
      return puts.map(({ name, line }) => (name === "run" ? name : line.split('"')[1])).join(" ");
    };

    expect(await flushes(rows(2))).toBe("run run");
    expect(await flushes(rows(2).map((item) => ({ ...item, first_name: "Ada" })))).toBe("run sent sent run");
    expect(await flushes([{ ...row(9), double_opt_in: true }])).toBe("run once run");
  });
});

describe("A checkpoint that fails ends the run with its error", () => {
  it("in `put`, after what is in flight", async () => {
    const { mock } = createFixture();
    const checkpoint = new MemoryCheckpoint();
    const { promise: answer, resolve: isAnswered } = deferred();
    const fetch = async (url: string, init: RequestInit) => {
      const response = await mock.fetch(url, init);
      if (mock.requests.length === 2) {
        checkpoint.fails.set("put", away);
        isAnswered();
      }
      await answer;
      return response;
    };
    const { audience } = createFixture({}, { ...mock.clientOptions, fetch });

    const { error, results } = await collectRun(
      audience.bulk(rows(9), upsert, { key, checkpoint, concurrency: 2 }),
    );

    expect(error).toBe(away);
    expect(results.map(({ status }) => status)).toEqual(["succeeded", "succeeded"]);
    expect(mock.requests).toHaveLength(2);
    expect(checkpoint.log.at(-1)).toBe("close");
  });

  it.each(["open", "put", "clear", "close"] as const)("where `%s` rejects, or throws", async (method) => {
    const { audience } = createFixture();
    const ends = [() => Promise.reject(away), () => expect.fail("at once")].map(async (call) => {
      const wrong =
        method === "open" ? { open: call } : changed(new MemoryCheckpoint(), () => ({ [method]: call }));
      return (await collectRun(audience.bulk(rows(2), upsert, { checkpoint: wrong }))).error;
    });

    expect(await Promise.all(ends)).toEqual([away, expect.objectContaining({ message: "at once" })]);
  });

  it.each<[string, object]>([
    ["no entries", { entries: undefined }],
    ["no put", { put: undefined }],
  ])("where `open` gives %s, before a row is sent", async (_, change) => {
    const { audience, mock } = createFixture();
    const checkpoint = changed(new MemoryCheckpoint(), () => change);

    const { error } = await collectRun(audience.bulk(rows(2), upsert, { checkpoint }));

    const message = "`open` of the checkpoint must return { entries, put, clear, close }.";
    expect(error).toMatchObject({ code: "configuration", message });
    expect(mock.requests).toEqual([]);
  });
});

describe("A checkpoint that hangs", () => {
  /** A method, and for `put` the begin of the line. */
  type Hang = readonly [method: "open" | "put" | "clear" | "close", line?: RegExp];

  /** A run whose checkpoint hangs. Hashes take real time: `waitFor` gives it, and moves the clock on. */
  async function hangingRun([method, begin = /^/]: Hang, options: object = { key }, clientOptions = {}) {
    await useFakeTime();
    const world = createFixture({}, clientOptions);
    const checkpoint = new MemoryCheckpoint();
    let hung = 0;
    const hang = () => ((hung += 1), never());
    const hanging: Checkpoint =
      method === "open"
        ? { open: hang }
        : changed(checkpoint, (opened) => ({
            [method]: (name: string, line: string, how: { flush: boolean }) =>
              method === "put" && !begin.test(line) ? opened.put(name, line, how) : hang(),
          }));
    const stop = new AbortController();
    let isOver = false;
    const run = world.audience.bulk(rows(2), upsert, {
      checkpoint: hanging,
      concurrency: 1,
      signal: stop.signal,
      ...options,
    });
    const ended = collectRun(run).finally(() => (isOver = true));
    await passUntil(() => hung > 0);
    const over = async () => {
      await passUntil(() => isOver);
      return await ended;
    };
    return { ...world, checkpoint, stop, over };
  }

  it.each<[string, Hang, object, sent: number]>([
    ["open", ["open"], { key }, 0],
    ["put, for the run", ["put", /^\{/], { key }, 0],
    ["put, for a row that leaves", ["put", /^\["sent/], { key }, 0],
    ["put, for a row that has ended", ["put", /^\["succeeded/], { key }, 1],
    ["put, for the end of the run", ["put", /"isOver":true/], { key }, 2],
    ["clear", ["clear"], {}, 2],
    ["close", ["close"], { key }, 2],
  ])("in `%s` does not hold up the end of the run", async (_, hang, options, sent) => {
    for (const [end, code] of [
      [({ stop }: { stop: AbortController }) => stop.abort(), "aborted"],
      [({ audience }: { audience: AudienceClient }) => void audience.close(), "closed"],
    ] as const) {
      const world = await hangingRun(hang, options);

      end(world);

      expect((await world.over()).error).toMatchObject({ code });
      expect(world.mock.requests).toHaveLength(sent);
      vi.useRealTimers();
    }
  });

  it("in `close` after the end of the run has a second", async () => {
    await useFakeTime();
    const { audience } = createFixture();
    const checkpoint = changed(new MemoryCheckpoint(), () => ({ close: never }));
    const stop = new AbortController();
    const options = { key, checkpoint, signal: stop.signal, onProgress: () => stop.abort() };
    const before = performance.now();

    const { error } = await passUntilSettled(collectRun(audience.bulk(rows(1), upsert, options)));

    expect(error).toMatchObject({ code: "aborted" });
    expect(performance.now() - before).toBe(1_000);
  });

  it("in `open` is told once, at info, and holds up no call that refuses nothing", async () => {
    const info = vi.fn();
    const clientOptions = { logger: { info }, logLevel: "info" };
    const { audience, over, stop } = await hangingRun(["open"], { key }, clientOptions);
    await audience.v1.customers.upsert(row(0));

    await vi.advanceTimersByTimeAsync(1_000);
    expect(info).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(20_000);
    stop.abort();
    await over();

    expect(info.mock.calls).toEqual([[expect.stringContaining("waits for its checkpoint")]]);
  });

  it("in `put` for 30 seconds ends the run, and the next one continues", async () => {
    const { audience, checkpoint, mock, over } = await hangingRun(["put", /^\["sent/]);

    await vi.advanceTimersByTimeAsync(29_000);
    expect(checkpoint.log).not.toContain("close");
    await vi.advanceTimersByTimeAsync(1_000);

    expect((await over()).error).toMatchObject({
      message: expect.stringContaining("`put` of the checkpoint has not settled within 30 s"),
    });
    expect(mock.requests).toEqual([]);
    vi.useRealTimers();
    expect(await audience.bulk(rows(2), upsert, { key, checkpoint })).toMatchObject({ succeeded: 2 });
  });

  it("in `put` makes a loop that is left end with an error, and the row is sent again", async () => {
    await useFakeTime();
    const { audience, mock } = createFixture();
    const table = new MemoryCheckpoint();
    let hung = 0;
    const checkpoint = changed(table, (opened) => ({
      put: (name: string, line: string, how: { flush: boolean }) =>
        line.startsWith('["succeeded"') && hung++ === 0 ? never() : opened.put(name, line, how),
    }));
    const leave = async () => {
      for await (const _ of audience.bulk(rows(2), upsert, { key, checkpoint, concurrency: 2 })) break;
    };
    let error: unknown;
    void leave().catch((thrown: unknown) => (error = thrown));

    await passUntil(() => error !== undefined);

    expect(error).toMatchObject({ message: expect.stringContaining("has not settled within 30 s") });
    vi.useRealTimers();
    const next = await audience.bulk(rows(2), upsert, { key, checkpoint: table });
    expect(next).toMatchObject({ succeeded: 1, skipped: 1 });
    expect(mock.requests).toHaveLength(3);
  });

  it("in `put` for another call's refusal holds that call up for two seconds", async () => {
    const warnings: string[] = [];
    const { audience, mock } = createFixture({}, { logger: { warn: (line) => warnings.push(line) } });
    let hung = 0;
    const checkpoint = changed(new MemoryCheckpoint(), (opened) => ({
      put: (name: string, line: string, how: { flush: boolean }) =>
        name.startsWith("refusal:") ? ((hung += 1), never()) : opened.put(name, line, how),
    }));
    const optOut = (index: number) =>
      audience.v1.customers.upsert({ ...row(index), email_opt_in: "UNSUBSCRIBED" });
    await useFakeTime();
    async function* source() {
      // Later the run has its checkpoint open.
      yield row(3);
      await vi.advanceTimersByTimeAsync(1_000);
      let isHeldUp = true;
      const first = optOut(0).then(() => (isHeldUp = false));
      await passUntil(() => hung === 1);
      await vi.advanceTimersByTimeAsync(1_800);
      expect(isHeldUp).toBe(true);
      await vi.advanceTimersByTimeAsync(200);
      await first;
      yield* rows(2);
      await never();
    }
    const stop = new AbortController();
    const kept: unknown[] = [];
    const ended = (async () => {
      for await (const result of audience.bulk(source(), upsert, { key, checkpoint, signal: stop.signal }))
        kept.push(result.kept);
    })().catch((error: unknown) => error);
    await passUntil(() => kept.length === 3);
    stop.abort();
    await vi.advanceTimersByTimeAsync(31_000);

    expect(await ended).toMatchObject({ code: "aborted" });
    expect(kept).toEqual([undefined, { email: "process" }, undefined]);
    expect(warnings).toEqual([
      expect.stringContaining("other calls do not wait for a slow checkpoint"),
      expect.anything(),
    ]);
    expect(mock.resubscriptions).toEqual([]);
  });

  it("in `open`, as for the lock of a dead run, holds the refusals of other calls up for two seconds in all", async () => {
    const { audience } = createFixture();
    const { promise: opened, resolve: open } = deferred();
    const table = new MemoryCheckpoint();
    const checkpoint = { open: async () => (await opened, await table.open()) };
    const optOut = { ...row(0), email_opt_in: "UNSUBSCRIBED" } as const;
    const log: number[] = [];
    await useFakeTime();
    const began = performance.now();
    const refuses = async () => {
      await audience.v1.customers.upsert(optOut);
      log.push(Math.round((performance.now() - began) / 1_000));
    };

    const run = audience.bulk(rows(1), upsert, { key, checkpoint }).summary();
    await Promise.all([refuses(), vi.advanceTimersByTimeAsync(2_100)]);
    for (let second = 3; second < 6; second++) {
      await vi.advanceTimersByTimeAsync(900);
      await Promise.all([refuses(), vi.advanceTimersByTimeAsync(100)]);
    }
    open();

    expect(log).toEqual([2, 3, 4, 5]);
    expect(await run).toMatchObject({ succeeded: 1, kept: 1 });
  });

  it("as its entries are read is closed once they fail, which is no error of the run", async () => {
    const { audience, mock } = createFixture();
    const table = new MemoryCheckpoint();
    const { promise: cutOff, resolve: cut } = deferred();
    let isReading = false;
    const checkpoint = changed(table, () => ({
      entries: (async function* () {
        isReading = true;
        await cutOff;
        yield* [];
        throw away;
      })(),
    }));
    const stop = new AbortController();
    const ended = collectRun(audience.bulk(rows(2), upsert, { key, checkpoint, signal: stop.signal }));
    await until(() => isReading);

    stop.abort();

    expect((await ended).error).toMatchObject({ code: "aborted" });
    cut();
    await until(() => table.log.includes("close"));
    expect(mock.requests).toEqual([]);
  });
});
