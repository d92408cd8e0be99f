import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileCheckpoint } from "audience-sdk/checkpoint";
import { expect, it } from "vitest";
import { row, createFixture, type Row } from "../bulk/fixture.ts";

const count = 20_000;

it("20,000 rows, of which one in a hundred has changed, need exactly 200 calls", async () => {
  const folder = await mkdtemp(join(tmpdir(), "delta-"));
  const path = join(folder, "nightly.ckpt");
  const { audience, mock, upsert } = createFixture();
  const options = { key: ({ email }: Row) => email, checkpoint: fileCheckpoint(path) };
  function* rows(night: number): Generator<Row> {
    for (let index = 0; index < count; index++)
      yield {
        ...row(index),
        ...(night === 2 && index % 100 === 7 && { email_opt_in: "UNSUBSCRIBED" as const }),
      };
  }
  const first = await audience.bulk(rows(1), upsert, options);
  const sizeOfFirst = (await stat(path)).size;
  mock.reset();
  const startedMs = performance.now();

  const second = await audience.bulk(rows(2), upsert, options);

  console.log(
    `first night ${Math.round(first.durationMs)} ms, ${sizeOfFirst} bytes; ` +
      `second ${Math.round(performance.now() - startedMs)} ms, ${(await stat(path)).size} bytes`,
  );
  expect(first).toMatchObject({ succeeded: count });
  expect(second).toMatchObject({ succeeded: 200, skipped: 19_800 });
  const sent = mock.requests.map(({ body }) => body as Row);
  expect(sent).toHaveLength(200);
  expect(sent.every(({ email_opt_in }) => email_opt_in === "UNSUBSCRIBED")).toBe(true);
  expect(new Set(sent.map(({ email }) => email)).size).toBe(200);
  await rm(folder, { recursive: true });
});
