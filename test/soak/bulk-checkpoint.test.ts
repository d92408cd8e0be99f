import { copyFile, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileCheckpoint } from "audience-sdk/checkpoint";
import { expect, it, onTestFinished } from "vitest";
import { createFixture, row, rows, type Row } from "../bulk/fixture.ts";
import { heldMb } from "./heap.ts";
import { leastWithin } from "./within.ts";

const count = 100_000;

it("A checkpoint of 100,000 rows opens in under a second, and holds at most 30 MB", async () => {
  const folder = await mkdtemp(join(tmpdir(), "soak-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, "import.ckpt");
  const { audience, mock, upsert } = createFixture();
  const key = ({ email }: Row) => email;
  const run = (from: Iterable<Row>) => audience.bulk(from, upsert, { key, checkpoint: fileCheckpoint(path) });
  const open = async () => {
    const startedMs = performance.now();
    const opened = await fileCheckpoint(path).open();
    const tookMs = performance.now() - startedMs;
    await opened.close();
    return tookMs;
  };
  const fileMb = async () => (await stat(path)).size / 1e6;

  // A run records the first rows; the others are recorded as it would.
  await run(rows(1_000));
  mock.reset();
  const filled = await fileCheckpoint(path).open();
  const [state, , fingerprint, ...stated] = String(await filled.get(`row:${row(0).email}`)).split(" ");
  const consent = stated.join(" ");
  for (let index = 1_000; index < count; index++) {
    const at = `row:${row(index).email}`;
    const other = `${index}`.padStart(fingerprint!.length, "0");
    await filled.set(at, `sent 1 ${other} ${consent}`);
    await filled.set(at, `${state} 1 ${other} ${consent}`);
  }
  await filled.close();
  const writtenMb = await fileMb();

  // The file after the run, and after it is rewritten on opening.
  await copyFile(path, `${path}.left`);
  const firstOpenMs = await leastWithin(1_000, async () => {
    await copyFile(`${path}.left`, path);
    return await open();
  });
  const openMs = await leastWithin(1_000, open);
  const before = await heldMb();
  const checkpoint = await fileCheckpoint(path).open();
  const grownMb = (await heldMb()) - before;
  for (let index = 0; index < count; index++) {
    const value = await checkpoint.get(`row:${row(index).email}`);
    if (!value?.startsWith("succeeded ")) expect.fail(row(index).email);
  }
  expect(await checkpoint.get("row:somebody-else@example.com")).toBeUndefined();
  await checkpoint.close();

  const summary = await run(rows(1_000));
  console.log({
    firstOpenMs: Math.round(firstOpenMs),
    openMs: Math.round(openMs),
    grownMb: grownMb.toFixed(1),
    writtenMb,
    fileMb: await fileMb(),
    skipMs: Math.round(summary.durationMs),
  });
  expect(firstOpenMs).toBeLessThan(1_000);
  expect(openMs).toBeLessThan(1_000);
  expect(grownMb).toBeLessThanOrEqual(30);
  expect(summary).toMatchObject({ skipped: 1_000, total: 1_000 });
  expect(mock.requests).toEqual([]);
});
