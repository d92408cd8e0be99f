import { AbortError, ConfigurationError, type Checkpoint } from "audience-sdk";
import { describe, expect, it } from "vitest";
import { collectRun, createFixture, deferred, key, rows, until } from "./fixture.ts";
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
