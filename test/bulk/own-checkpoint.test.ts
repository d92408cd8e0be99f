import { AbortError, ClientClosedError, ConfigurationError, type Checkpoint } from "audience-sdk";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { collectRun, createFixture, deferred, key, row, rows, until } from "./fixture.ts";
import { MemoryCheckpoint } from "./memory-checkpoint.ts";

describe("A checkpoint of one's own", () => {
  const complete = {
    lines: (async function* () {})(),
    append: async () => undefined,
    rewrite: async () => undefined,
    close: async () => undefined,
  };

  it.each([
    ["nothing", undefined],
    ["null", null],
    ["an object without lines", { ...complete, lines: undefined }],
    ["lines that are a string", { ...complete, lines: "[]" }],
    ["an object without append", { ...complete, append: undefined }],
    ["a rewrite that is no function", { ...complete, rewrite: "no" }],
    ["an object without close", { ...complete, close: undefined }],
  ])(
    "whose open() returns %s ends the run with a ConfigurationError before a row is sent",
    async (_, opened) => {
      const { audience, mock, upsert } = createFixture();
      // A program in JavaScript can pass this.
      const checkpoint = { open: async () => opened } as unknown as Checkpoint;

      const { error } = await collectRun(audience.bulk(rows(2), upsert, { checkpoint }));

      expect(error).toBeInstanceOf(ConfigurationError);
      expect(error).toMatchObject({
        message: "`open` of the checkpoint must return { lines, append, rewrite, close }.",
      });
      expect(mock.requests).toEqual([]);
    },
  );

  it("that still reads its lines when the run is aborted is closed once they fail, which is no error of the run", async () => {
    const { audience, mock, upsert } = createFixture();
    const log: string[] = [];
    const { promise: cutOff, resolve: cut } = deferred();
    async function* lines() {
      log.push("read");
      await cutOff;
      yield* [];
      throw new Error("the connection is closed");
    }
    const checkpoint: Checkpoint = {
      open: async () => ({ ...complete, lines: lines(), close: async () => void log.push("close") }),
    };
    const stop = new AbortController();
    const ended = collectRun(audience.bulk(rows(2), upsert, { key, checkpoint, signal: stop.signal }));
    await until(() => log.includes("read"));

    stop.abort();

    expect((await ended).error).toBeInstanceOf(AbortError);
    cut();
    await until(() => log.includes("close"));
    expect(mock.requests).toEqual([]);
  });
});

it("A loop that is left while a line of a row is added ends, and what its end has cut off is no error", async () => {
  const { audience, mock, upsert } = createFixture();
  const { promise: asked, resolve: isAsked } = deferred();
  let cutOff: (error: Error) => void = () => undefined;
  let rowsSent = 0;
  class Connection extends MemoryCheckpoint {
    override append = async (text: string, isFlushed: boolean) => {
      if (text.startsWith('["sends"') && (rowsSent += 1) === 2) {
        isAsked();
        await new Promise<never>((_, reject) => (cutOff = reject));
      }
      await super.append(text, isFlushed);
    };
    override async open() {
      const opened = await super.open();
      // As a database does whose connection ends.
      return {
        ...opened,
        close: async () => {
          await opened.close();
          cutOff(new Error("the connection is closed"));
        },
      };
    }
  }
  const checkpoint = new Connection();

  const statuses: string[] = [];
  for await (const { status } of audience.bulk(rows(3), upsert, { key, checkpoint, concurrency: 2 })) {
    statuses.push(status);
    await asked;
    break;
  }

  expect(statuses).toEqual(["succeeded"]);
  expect(mock.requests).toHaveLength(1);
  const { results, error } = await collectRun(audience.bulk(rows(3), upsert, { key, checkpoint }));
  expect(error).toBeUndefined();
  expect(results.map(({ status }) => status)).toEqual(["skipped", "succeeded", "succeeded"]);
});

/** The first calls of a method that hang, by default one, for lines that begin so. */
type Hang = readonly [method: "open" | "append" | "rewrite" | "close", line?: string, times?: number];

/** A checkpoint of which some calls never settle. */
class HangingCheckpoint extends MemoryCheckpoint {
  hung = 0;
  readonly #hang: Hang;

  constructor(hang: Hang) {
    super();
    this.#hang = hang;
  }

  async #pass(method: Hang[0], text = ""): Promise<void> {
    const [hanging, line = "", times = 1] = this.#hang;
    if (this.hung === times || method !== hanging || !text.startsWith(line)) return;
    this.hung += 1;
    await new Promise<never>(() => {});
  }

  override open = async () => {
    await this.#pass("open");
    const opened = await super.open();
    const close = async () => {
      await this.#pass("close");
      await opened.close();
    };
    return { ...opened, close };
  };

  override append = async (text: string, isFlushed: boolean) => {
    await this.#pass("append", text);
    await super.append(text, isFlushed);
  };

  override rewrite = async (lines: Iterable<string>) => {
    await this.#pass("rewrite");
    await super.rewrite(lines);
  };
}

describe("A checkpoint that hangs", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** A run whose checkpoint hangs. A row's fingerprint takes real time: `waitFor` gives it, and moves the clock on. */
  async function hangingRun(hang: Hang, options: { key?: typeof key } = { key }) {
    const world = createFixture();
    const checkpoint = new HangingCheckpoint(hang);
    const stop = new AbortController();
    let isOver = false;
    const run = world.audience.bulk(rows(2), world.upsert, {
      ...options,
      checkpoint,
      concurrency: 1,
      signal: stop.signal,
    });
    const ended = collectRun(run).finally(() => (isOver = true));
    await vi.waitFor(() => expect(checkpoint.hung).toBe(1), { interval: 1, timeout: 5_000 });
    const over = async () => {
      await vi.waitFor(() => expect(isOver).toBe(true), { interval: 50, timeout: 5_000 });
      return await ended;
    };
    return { ...world, checkpoint, stop, over };
  }

  it.each<[string, Hang, sent: number]>([
    ["open", ["open"], 0],
    ["append, for the line of the run", ["append", '["run"'], 0],
    ["append, for a row that leaves", ["append", '["sends"'], 0],
    ["append, for a row that has ended", ["append", '["ends"'], 1],
    ["append, for the end of the run", ["append", '["over"'], 2],
    ["close", ["close"], 2],
  ])("in `%s` does not hold up the end of the run", async (_, hang, sent) => {
    for (const [end, error] of [
      [({ stop }: { stop: AbortController }) => stop.abort(), AbortError],
      [({ audience }: ReturnType<typeof createFixture>) => void audience.close(), ClientClosedError],
    ] as const) {
      const world = await hangingRun(hang);

      end(world);

      expect((await world.over()).error).toBeInstanceOf(error);
      expect(world.mock.requests).toHaveLength(sent);
    }
  });

  it("in `rewrite` at the end of a complete run does not make it fail when it is aborted", async () => {
    const { stop, over, checkpoint } = await hangingRun(["rewrite"], {});

    stop.abort();

    const { results, error } = await over();
    expect([results.map(({ status }) => status), error]).toEqual([["succeeded", "succeeded"], undefined]);
    expect(checkpoint.log.at(-1)).toBe("close");
  });

  it("makes a loop that is left end with an error, and the row is sent again", async () => {
    const { audience, mock, upsert } = createFixture();
    const checkpoint = new HangingCheckpoint(["append", '["ends"']);
    const leave = async () => {
      const run = audience.bulk(rows(2), upsert, { key, checkpoint, concurrency: 2 });
      for await (const _ of run) break;
    };
    let error: unknown;
    void leave().catch((thrown: unknown) => (error = thrown));

    await vi.waitFor(() => expect(error).toBeDefined(), { interval: 50, timeout: 5_000 });

    expect(error).toMatchObject({ message: expect.stringContaining("has not settled within a second") });
    vi.useRealTimers();
    expect(await audience.bulk(rows(2), upsert, { key, checkpoint })).toMatchObject({
      succeeded: 1,
      skipped: 1,
    });
    expect(mock.requests).toHaveLength(3);
  });

  it("in `append` for another call's consent holds it up for two seconds, and no further call", async () => {
    const lines: string[] = [];
    const { audience, mock, upsert } = createFixture({}, { logger: { warn: (line) => lines.push(line) } });
    const checkpoint = new HangingCheckpoint(["append", '["writes"', 4]);
    const optOut = (email: string) =>
      audience.v1.customers.upsert({ email, email_opt_in: "UNSUBSCRIBED" }).then(({ id }) => id);
    const ids: string[] = [];
    async function* source() {
      // Later the run has its checkpoint open.
      yield row(3);
      const three = [0, 1, 2].map((index) => optOut(row(index).email));
      await vi.waitFor(() => expect(checkpoint.hung).toBe(3), { interval: 1, timeout: 5_000 });
      await vi.advanceTimersByTimeAsync(2_000);
      ids.push(...(await Promise.all(three)));
      const calledAt = Date.now();
      ids.push(await optOut(row(4).email));
      expect(Date.now() - calledAt).toBeLessThan(1_000);
      yield* rows(3);
    }
    const stop = new AbortController();
    const run = audience.bulk(source(), upsert, { key, checkpoint, signal: stop.signal });
    const results: string[] = [];
    const ended = (async () => {
      for await (const { status } of run) results.push(status);
    })().catch((error: unknown) => error);
    await vi.waitFor(() => expect(results).toHaveLength(4), { interval: 1, timeout: 5_000 });
    stop.abort();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await ended).toBeInstanceOf(AbortError);

    expect(ids).toHaveLength(4);
    expect(results).toEqual(["succeeded", "superseded", "superseded", "superseded"]);
    expect(mock.requests).toHaveLength(5);
    expect(lines).toEqual([expect.stringContaining("the checkpoint of a bulk run is slow")]);
  });

  it("as it records another call's consent lets that call end when it is aborted", async () => {
    const { audience, mock, upsert } = createFixture();
    const checkpoint = new HangingCheckpoint(["append", '["writes"']);
    const caller = new AbortController();
    let failure: unknown;
    async function* source() {
      yield row(3);
      const [direct, options] = [{ ...row(0), email: "direct@example.com" }, { signal: caller.signal }];
      failure = await audience.v1.customers.upsert(direct, options).catch((error: unknown) => error);
      yield row(0);
    }
    const stop = new AbortController();
    const ended = collectRun(audience.bulk(source(), upsert, { key, checkpoint, signal: stop.signal }));
    await vi.waitFor(() => expect(checkpoint.hung).toBe(1), { interval: 1, timeout: 5_000 });

    caller.abort();

    await vi.waitFor(() => expect(failure).toBeInstanceOf(AbortError), { interval: 50, timeout: 5_000 });
    stop.abort();
    await vi.advanceTimersByTimeAsync(1_000);
    expect((await ended).error).toBeInstanceOf(AbortError);
    expect(mock.organization("mock-organization").contacts.map(({ email }) => email)).not.toContain(
      "direct@example.com",
    );
  });

  it("as it records a row holds up another call of the contact for 30 seconds", async () => {
    const { audience, mock, over } = await hangingRun(["append", '["sends"']);

    const written = audience.v1.customers.upsert({ ...row(0), email_opt_in: "UNSUBSCRIBED" });
    await vi.advanceTimersByTimeAsync(30_000);

    await over();
    await written;
    expect(mock.organization("mock-organization").contacts).toMatchObject([{ email_opt_in: "UNSUBSCRIBED" }]);
  });

  it("in `append` for 30 seconds ends the run, and the next one continues", async () => {
    const world = await hangingRun(["append", '["sends"']);
    const { audience, checkpoint, mock, over, upsert } = world;

    await vi.advanceTimersByTimeAsync(29_000);
    expect(checkpoint.log).not.toContain("close");
    await vi.advanceTimersByTimeAsync(1_000);

    expect((await over()).error).toMatchObject({
      message: expect.stringContaining("has not added a line within 30 s"),
    });
    expect(mock.requests).toEqual([]);
    vi.useRealTimers();
    expect(await audience.bulk(rows(2), upsert, { key, checkpoint })).toMatchObject({ succeeded: 2 });
  });
});

describe("A method of a checkpoint that is not as it should be is a rejection", () => {
  const thrown = new Error("the database is away");
  const throws = () => {
    throw thrown;
  };

  it.each(["open", "append", "close"] as const)("%s throws", async (method) => {
    const { audience, upsert } = createFixture();
    const checkpoint = new MemoryCheckpoint();
    const opened = { ...(await checkpoint.open()), [method]: throws };
    const own: Checkpoint = { open: method === "open" ? throws : async () => opened };

    const { error } = await collectRun(audience.bulk(rows(2), upsert, { checkpoint: own }));

    expect(error).toBe(thrown);
  });

  it.each(["open", "append", "close"] as const)(
    "%s returns no promise, which an error says",
    async (method) => {
      const { audience, upsert } = createFixture();
      const checkpoint = new MemoryCheckpoint();
      const opened = { ...(await checkpoint.open()), [method]: () => undefined };
      const own = (method === "open" ? opened : { open: async () => opened }) as unknown as Checkpoint;

      const { error } = await collectRun(audience.bulk(rows(2), upsert, { checkpoint: own }));

      expect(error).toEqual(new ConfigurationError(`\`${method}\` of the checkpoint must return a promise.`));
    },
  );

  it.each([
    ["throws", throws],
    ["returns no promise", () => undefined],
  ])("rewrite %s, and the run is complete, as it only saves space", async (_, rewrite) => {
    const { audience, upsert } = createFixture();
    const checkpoint = new MemoryCheckpoint();
    const own = {
      open: async () => ({ ...(await checkpoint.open()), rewrite }),
    } as unknown as Checkpoint;

    const runs = [
      await audience.bulk(rows(2), upsert, { checkpoint: own }),
      await audience.bulk(rows(2), upsert, { checkpoint: own }),
    ];

    expect(runs).toMatchObject([{ succeeded: 2 }, { succeeded: 2 }]);
  });
});
