import { copyFile, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AudienceClient } from "audience-sdk";
import { fileCheckpoint } from "audience-sdk/checkpoint";
import { createMockService } from "audience-sdk/mock";
import { expect, it, onTestFinished } from "vitest";
import { heldMb } from "./heap.ts";
import { leastWithin } from "./within.ts";

const count = 100_000;

function* rows() {
  for (let index = 0; index < count; index++)
    yield { email: `row-${index}@example.com`, email_opt_in: "SUBSCRIBED" as const };
}

it("A checkpoint of 100,000 rows opens in under a second, and holds at most 30 MB", async () => {
  const folder = await mkdtemp(join(tmpdir(), "soak-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, "import.ckpt");
  const mock = createMockService();
  const audience = new AudienceClient(mock.clientOptions);
  const run = () =>
    audience.bulk(rows(), (row, request) => audience.v1.customers.upsert(row, request), {
      key: ({ email }) => email,
      checkpoint: fileCheckpoint(path),
    });
  const open = async () => {
    const startedMs = performance.now();
    const opened = await fileCheckpoint(path).open();
    const tookMs = performance.now() - startedMs;
    await opened.close();
    return tookMs;
  };
  const fileMb = async () => (await stat(path)).size / 1e6;

  const runStartedMs = performance.now();
  let done = 0;
  for await (const { status } of run()) {
    expect(status).toBe("succeeded");
    // The mock records every contact and request.
    if (++done % 5_000 === 0) mock.reset();
  }
  const runMs = performance.now() - runStartedMs;
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
  for (const { email } of rows())
    if (!(await checkpoint.get(`row:${email}`))?.startsWith("succeeded ")) expect.fail(email);
  expect(await checkpoint.get("row:somebody-else@example.com")).toBeUndefined();
  await checkpoint.close();

  mock.reset();
  const skipStartedMs = performance.now();
  const summary = await run();
  console.log({
    runMs: Math.round(runMs),
    firstOpenMs: Math.round(firstOpenMs),
    openMs: Math.round(openMs),
    grownMb: grownMb.toFixed(1),
    writtenMb,
    fileMb: await fileMb(),
    skipMs: Math.round(performance.now() - skipStartedMs),
  });
  expect(firstOpenMs).toBeLessThan(1_000);
  expect(openMs).toBeLessThan(1_000);
  expect(grownMb).toBeLessThanOrEqual(30);
  expect(summary).toMatchObject({ skipped: count, total: count });
  expect(mock.requests).toEqual([]);
});
