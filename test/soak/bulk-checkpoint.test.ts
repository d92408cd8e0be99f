import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AudienceClient } from "audience-sdk";
import { fileCheckpoint } from "audience-sdk/checkpoint";
import { createMockService } from "audience-sdk/mock";
import { expect, it, onTestFinished } from "vitest";
import { heldMb } from "./heap.ts";
import { leastWithin } from "./within.ts";

const count = 1_000_000;

function* rows() {
  for (let index = 0; index < count; index++)
    yield { email: `row-${index}@example.com`, email_opt_in: "SUBSCRIBED" as const };
}

it("A checkpoint of 1,000,000 rows opens in under two seconds, and holds under 40 MB", async () => {
  const folder = await mkdtemp(join(tmpdir(), "soak-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, "import.ckpt");
  const writing = await fileCheckpoint(path).open();
  const writeStartedMs = performance.now();
  for (const { email } of rows()) await writing.record(email, "succeeded");
  const writeMs = performance.now() - writeStartedMs;
  await writing.close();

  const openMs = await leastWithin(2_000, async () => {
    const startedMs = performance.now();
    const opened = await fileCheckpoint(path).open();
    const tookMs = performance.now() - startedMs;
    await opened.close();
    return tookMs;
  });
  const before = await heldMb();
  const checkpoint = await fileCheckpoint(path).open();
  const grownMb = (await heldMb()) - before;
  for (const { email } of rows()) if ((await checkpoint.stateOf(email)) !== "succeeded") expect.fail(email);
  expect(await checkpoint.stateOf("somebody-else@example.com")).toBeUndefined();
  await checkpoint.close();

  console.log({
    writeMs: Math.round(writeMs),
    openMs: Math.round(openMs),
    grownMb: grownMb.toFixed(1),
    fileMb: (await stat(path)).size / 1e6,
  });
  expect(openMs).toBeLessThan(2_000);
  expect(grownMb).toBeLessThan(40);

  const mock = createMockService();
  const audience = new AudienceClient(mock.clientOptions);
  const skipStartedMs = performance.now();
  const upsert = audience.v1.customers.upsert.bind(audience.v1.customers);
  const summary = await audience
    .bulk(rows(), (row, request) => upsert(row, request), {
      key: ({ email }) => email,
      checkpoint: fileCheckpoint(path),
    })
    .summary();
  console.log({ skipMs: Math.round(performance.now() - skipStartedMs) });
  expect(summary).toMatchObject({ skipped: count, total: count });
  expect(mock.requests).toEqual([]);
});
