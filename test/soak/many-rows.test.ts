import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AudienceClient, write } from "audience-sdk";
import { fileCheckpoint } from "audience-sdk/checkpoint";
import { createMockService } from "audience-sdk/mock";
import { expect, it } from "vitest";
import { createFixture, row, type Row } from "../bulk/fixture.ts";
import { manyRows, runProgram } from "../examples/importer-fixture.ts";
import { heldMb } from "./measures.ts";

it("20,000 rows, of which one in a hundred has changed, need exactly 200 calls", async () => {
  const count = 20_000;
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

it("A run of 50,000 rows needs no more memory at its end than after its thousandth row", async () => {
  const count = 50_000;
  const mock = createMockService();
  // Node collects a `Request` with a signal late and in batches of some hundred MB: the mock, which creates one for
  // each url and init, gets no signal. The client's own signals are unchanged.
  const fetch = (url: string, init: RequestInit) => mock.fetch(url, { ...init, signal: null });
  const audience = new AudienceClient({ ...mock.clientOptions, fetch });
  function* rows() {
    for (let index = 0; index < count; index++)
      yield { email: `row-${index}@example.com`, email_opt_in: "SUBSCRIBED" as const };
  }
  const run = audience.bulk(rows(), (each) => write.v1.customers.upsert(each), { total: count });
  const held: number[] = [];
  let done = 0;
  const startedMs = performance.now();

  for await (const { status } of run) {
    expect(status).toBe("succeeded");
    done++;
    // The mock records every contact and request: its state is cleared, so that only the run's memory can grow.
    if (done % 5_000 === 0 || done === 1_000) mock.reset();
    if (done === 1_000 || done % 10_000 === 0) held.push(await heldMb());
  }

  const [first = 0, ...later] = held;
  console.log({
    rowsPerSecond: Math.round(count / ((performance.now() - startedMs) / 1_000)),
    heldMb: held.map((mb) => mb.toFixed(1)).join(" "),
  });
  expect(await run.summary()).toMatchObject({ total: count, succeeded: count });
  expect(Math.max(...later) - first).toBeLessThan(10);
}, 3_600_000);

it("The importer reads 200,000 rows in a heap that is smaller than the rows, and says at once what it does", async () => {
  const chunks: string[] = [];

  const { code, out } = await runProgram(
    [await manyRows(200_000), "--dry-run"],
    (_child, text) => void chunks.push(text),
    ["--max-old-space-size=96"],
  );

  expect(code).toBe(0);
  expect(out).toContain("200,000 of 200,000 rows can be imported");
  expect(chunks[0]).toBe("Reading 1 file …\n");
});
