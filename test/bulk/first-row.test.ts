import { EventEmitter, on } from "node:events";
import { createReadStream } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { PassThrough, Readable } from "node:stream";
import { type BulkRun, write } from "audience-sdk";
import type { Checkpoint } from "audience-sdk/checkpoint";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import {
  collectRun,
  createFixture,
  deferred,
  flushEventLoop,
  row,
  rows,
  type Row,
  upsert,
} from "./fixture.ts";
import { MemoryCheckpoint } from "./memory-checkpoint.ts";

// More than are under way at once.
const count = 12;
const lines = rows(count).map((each) => JSON.stringify(each));
const text = lines.join("\n");
let folder: string;
let file: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "rows-"));
  file = join(folder, "rows.jsonl");
  await writeFile(file, text);
});
afterAll(async () => await rm(folder, { recursive: true }));

function ended(content: string): PassThrough {
  const stream = new PassThrough();
  stream.end(content);
  return stream;
}

/** Emits all lines as soon as `when` calls back, whether anyone listens or not. */
function emitting(when: (emit: () => void) => void): () => AsyncIterable<string> {
  return () => {
    const emitter = new EventEmitter();
    when(() => {
      for (const line of lines) emitter.emit("line", line);
      emitter.emit("end");
    });
    return {
      async *[Symbol.asyncIterator]() {
        for await (const [line] of on(emitter, "line", { close: ["end"] })) yield line as string;
      },
    };
  };
}

const sources: [string, () => AsyncIterable<string>][] = [
  ["a readline interface of a file", () => createInterface({ input: createReadStream(file) })],
  ["a readline interface of a stream that has ended", () => createInterface({ input: ended(text) })],
  ["a readline interface of a text", () => createInterface({ input: Readable.from(text) })],
  ["an emitter that emits in the next microtask", emitting((emit) => queueMicrotask(emit))],
  ["an emitter that emits in the next tick", emitting((emit) => process.nextTick(emit))],
  ["an emitter that emits at once after this turn", emitting((emit) => setImmediate(emit))],
];

const starts: [string, (run: BulkRun<string, unknown>) => Promise<unknown>][] = [
  ["awaited", async (run) => await run],
  ["asked for its summary", (run) => run.summary()],
  ["iterated", collectRun],
  ["asked for its summary and iterated", async (run) => await Promise.all([run.summary(), collectRun(run)])],
];

/** Opens when the event loop has gone round: by then the emitters have emitted all. */
const slow = (checkpoint: MemoryCheckpoint): Checkpoint => ({
  async open() {
    await flushEventLoop();
    return await checkpoint.open();
  },
});

describe.each(starts)(
  "No row is lost where a run is %s, nor by its check, and its rows come from",
  (_, start) => {
    it.each(sources)("%s", async (__, createSource) => {
      const { audience, emails } = createFixture();
      const call = (line: string) => write.v1.customers.upsert(JSON.parse(line) as Row);
      // As in a script: its first turn comes before the ticks and the microtasks.
      const inTurn = <T>(act: () => Promise<T>) =>
        new Promise<T>((resolve) => setImmediate(() => resolve(act())));
      const run = async (checkpoint?: Checkpoint) => {
        await start(audience.bulk(createSource(), call, { checkpoint }));
      };

      await inTurn(() => run());
      const sent = emails();
      await inTurn(() => run(slow(new MemoryCheckpoint())));
      const checked = await inTurn(() => audience.bulk.check(createSource(), call));

      expect(sent).toEqual(rows(count).map(({ email }) => email));
      expect(emails()).toEqual(sent);
      expect(checked).toMatchObject({ total: count, valid: count });
    });
  },
);

describe("A run reads its first row", () => {
  /** Logs what is asked of it. */
  function loggedSource(log: string[]) {
    return {
      [Symbol.asyncIterator]() {
        log.push("iterator");
        let next = 0;
        return {
          next: async () => (log.push("next"), { done: next === 3, value: row(next++) }),
          return: async () => (log.push("return"), { done: true as const, value: undefined }),
        };
      },
    };
  }

  it("in the turn in which it is iterated, awaited, or asked for its summary, and never before", async () => {
    const { audience } = createFixture();
    const begins = async (begin: (run: BulkRun<Row, unknown>) => unknown) => {
      const log: string[] = [];
      const run = audience.bulk(loggedSource(log), upsert);
      await flushEventLoop();
      const before = [...log];
      const end = begin(run);
      const begun = [...log];
      await end;
      return { before, begun };
    };
    const expected = { before: [], begun: ["iterator", "next"] };

    expect(await begins(collectRun)).toEqual(expected);
    expect(await begins(async (run) => await run)).toEqual(expected);
    expect(await begins((run) => run.summary())).toEqual(expected);
  });

  it("alone until its checkpoint is open", async () => {
    const { audience } = createFixture();
    const log: string[] = [];
    const opened = deferred();
    const checkpoint = new MemoryCheckpoint();
    const opening = {
      async open() {
        await opened.promise;
        log.push("open");
        return await checkpoint.open();
      },
    };

    const run = collectRun(audience.bulk(loggedSource(log), upsert, { checkpoint: opening }));
    await flushEventLoop();
    opened.resolve();

    expect((await run).results).toHaveLength(3);
    expect(log).toEqual(["iterator", "next", "open", "next", "next", "next"]);
  });

  it("and closes the source, and sends nothing, where the checkpoint cannot be opened", async () => {
    const { audience, mock } = createFixture();
    const log: string[] = [];
    const error = new Error("no such disk");
    const checkpoint = new MemoryCheckpoint();
    checkpoint.fails.set("open", error);

    const end = await collectRun(audience.bulk(loggedSource(log), upsert, { checkpoint }));

    expect(end).toEqual({ results: [], error });
    expect(log).toEqual(["iterator", "next", "return"]);
    expect(mock.requests).toEqual([]);
  });
});

describe("A source that fails before its first row", () => {
  const missing = () => createReadStream(join(folder, "missing.jsonl"));
  const call = () => [];
  const { audience } = createFixture();

  it.each([
    ["a stream", missing],
    ["a readline interface", () => createInterface({ input: missing() })],
  ])("ends the run with its error, also while the checkpoint opens: %s", async (_, source) => {
    const checkpoint = new MemoryCheckpoint();

    const plain = await collectRun(audience.bulk(source(), call));
    const recorded = await collectRun(audience.bulk(source(), call, { checkpoint: slow(checkpoint) }));

    expect([plain.error, recorded.error]).toMatchObject([{ code: "ENOENT" }, { code: "ENOENT" }]);
    expect(checkpoint.log.filter((step) => step !== "put")).toEqual(["open", "close"]);
  });

  it.each([
    ["was aborted", (aborted: AbortController) => aborted.abort(), { code: "aborted" }],
    ["cannot open its checkpoint", () => undefined, { message: "no such disk" }],
  ])("changes nothing, and is no unhandled rejection, where its run %s", async (_, end, expected) => {
    const aborted = new AbortController();
    const checkpoint = new MemoryCheckpoint();
    checkpoint.fails.set("open", new Error("no such disk"));
    const run = collectRun(
      audience.bulk(missing(), call, { signal: aborted.signal, checkpoint: slow(checkpoint) }),
    );
    end(aborted);

    expect((await run).error).toMatchObject(expected);
    await flushEventLoop();
  });
});

it("A row that is a promise and rejects long before it is read ends the run with its error, and never the process", async () => {
  const error = new Error("no such page");
  const { audience, mock } = createFixture();
  const unhandled: unknown[] = [];
  const remember = (reason: unknown) => void unhandled.push(reason);
  process.on("unhandledRejection", remember);
  onTestFinished(() => void process.off("unhandledRejection", remember));
  const promised = () => [row(0), row(1), Promise.reject(error)];
  const later = async (contact: Row) => {
    await flushEventLoop();
    return upsert(contact);
  };

  for (const list of [promised, () => new Set(promised())]) {
    mock.reset();
    expect((await collectRun(audience.bulk(list(), later, { concurrency: 1 }))).error).toBe(error);
    // It rejects in the first pass, in which nothing refuses.
    expect(mock.requests).toEqual([]);
  }
  expect(unhandled).toEqual([]);
});
