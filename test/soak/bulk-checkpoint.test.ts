import { createHash } from "node:crypto";
import { copyFile, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileCheckpoint } from "audience-sdk/checkpoint";
import { expect, it, onTestFinished } from "vitest";
import { createFixture, row, rows, type Row } from "../bulk/fixture.ts";
import { heldMb, leastWithin } from "./measures.ts";

const count = 100_000;

it("A run over a checkpoint of 100,000 rows begins within a second, and the rows take at most 30 MB", async () => {
  const folder = await mkdtemp(join(tmpdir(), "soak-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, "import.ckpt");
  const { audience, mock, upsert } = createFixture();
  const key = ({ email }: Row) => email;
  const run = (from: Iterable<Row>) => audience.bulk(from, upsert, { key, checkpoint: fileCheckpoint(path) });
  const fileMb = async () => (await stat(path)).size / 1e6;
  await writeNight(path, run);
  mock.reset();
  const writtenMb = await fileMb();

  // From the beginning of the run to its first row: the file as the night has left it. Nothing else runs meanwhile.
  const begin = async () => {
    const before = performance.now();
    for await (const _ of run(rows(1))) return performance.now() - before;
    return expect.fail("the run has no row");
  };
  await copyFile(path, `${path}.left`);
  const firstMs = await leastWithin(1_000, async () => {
    await copyFile(`${path}.left`, path);
    return await begin();
  });
  const heldBefore = await heldMb();
  let grownMb = 0;
  for await (const _ of run(rows(1))) grownMb = (await heldMb()) - heldBefore;

  console.log({
    firstMs: Math.round(firstMs),
    grownMb: grownMb.toFixed(1),
    writtenMb,
    fileMb: await fileMb(),
  });
  expect(firstMs).toBeLessThan(1_000);
  expect(grownMb).toBeLessThanOrEqual(30);
  expect(await run(rows(1_000))).toMatchObject({ skipped: 1_000, total: 1_000 });
  expect(mock.requests).toEqual([]);
});

/** A night of all rows: a run records the first ones, the others are recorded as it would. */
async function writeNight(path: string, run: (from: Iterable<Row>) => PromiseLike<unknown>): Promise<void> {
  await run(rows(1_000));
  const filled = await fileCheckpoint(path).open();
  const recorded: string[] = [];
  for await (const [name, line] of filled.entries) if (name.startsWith("row:")) recorded.push(line);
  const other = (index: number) => {
    const [state, version] = JSON.parse(recorded[index % recorded.length]!) as unknown[];
    return JSON.stringify([state, version, hashOf(String(index)), crypto.randomUUID()]);
  };
  for (let index = 1_000; index < count; index++) {
    const name = `row:${hashOf(row(index).email)}`;
    // A line when it is sent, and one when it has ended.
    for (const line of [other(index).replace("succeeded", "sent"), other(index)])
      await filled.put(name, line, { flush: false });
  }
  await filled.close();
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest().subarray(0, 12).toString("base64url");
}
