import { ConfigurationError } from "audience-sdk";
import { expect, it } from "vitest";
import { collectRun, createFixture, key, rows } from "./fixture.ts";
import { MemoryCheckpoint } from "./memory-checkpoint.ts";

it("A row whose end was recorded and whose begin was lost is looked up and sent, as a changed one", async () => {
  const { audience, mock, upsert } = createFixture();
  const whole = new MemoryCheckpoint();
  await audience.bulk(rows(1), upsert, { key, checkpoint: whole });
  const lines = whole.lines.filter((line) => !line.startsWith('["sends"'));
  const checkpoint = new MemoryCheckpoint([...lines, '["ends","of a row that is gone","succeeded"]']);

  const summary = await audience.bulk(rows(1), upsert, { key, checkpoint });

  expect(summary).toMatchObject({ succeeded: 1 });
  const [upsert1, ...later] = mock.requests.map(({ operation }) => operation);
  expect(later).toEqual(["v1.customers.get", upsert1]);
});

/** A checkpoint after a night of two rows, with one more line. */
async function checkpointWith(line: string): Promise<MemoryCheckpoint> {
  const { audience, upsert } = createFixture();
  const checkpoint = new MemoryCheckpoint();
  await audience.bulk(rows(2), upsert, { key, checkpoint });
  return new MemoryCheckpoint([...checkpoint.lines, line]);
}

it.each([
  ["nothing", ""],
  ["no JSON", '["over"'],
  ["no array", '{"over":true}'],
  ["an empty array", "[]"],
  ["null", "null"],
  ["an event that does not exist", '["ran",1]'],
  ["a name of every object", '["toString"]'],
  ["a part too many", '["over",1]'],
  ["an end without its way", '["ends","a"]'],
  ["a part of another type", '["sends","a","b","c",1]'],
  ["a run without its target", '["run","a",true,{}]'],
  ["a run of an earlier version, which named no service", '["run","a",true,null]'],
  ["a consent without its contacts", '["writes",1,"a",{}]'],
  ["a consent of null", '["writes",1,["a"],null]'],
])("A line that holds %s ends the run before anything is sent, and is left as it is", async (_, line) => {
  const checkpoint = await checkpointWith(line);
  const { audience, mock, upsert } = createFixture();
  const before = checkpoint.lines;

  const { error } = await collectRun(audience.bulk(rows(1), upsert, { key, checkpoint }));

  expect(error).toEqual(
    new ConfigurationError(
      `The checkpoint is damaged at line ${before.length}, or was written by another version. It is left unchanged. ` +
        "Restore it, or end its run with the version that wrote it. Another checkpoint sends every row, and knows none " +
        "of the consents that this one keeps from being overridden.",
    ),
  );
  expect(mock.requests).toEqual([]);
  expect(checkpoint.lines).toEqual(before);
  expect(checkpoint.log.at(-1)).toBe("close");
});
