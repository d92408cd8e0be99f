import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AudienceClient, write } from "audience-sdk";
import { fileCheckpoint } from "audience-sdk/checkpoint";
import { createMockService } from "audience-sdk/mock";
import { expect, it, onTestFinished } from "vitest";
import { createFixture, row, rows, type Row } from "../bulk/fixture.ts";
import { manyRows, runProgram } from "../examples/importer-fixture.ts";
import { failureOf } from "../transport/failure.ts";
import { heldMb } from "./measures.ts";

const count = 100_000;

// How long it takes to open is a figure of `npm run bench`.
it("100,000 recorded rows take at most 30 MB", async () => {
  const folder = await mkdtemp(join(tmpdir(), "soak-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, "import.ckpt");
  const { audience, mock, upsert } = createFixture();
  const key = ({ email }: Row) => email;
  const run = (from: Iterable<Row>) => audience.bulk(from, upsert, { key, checkpoint: fileCheckpoint(path) });
  await writeNight(path, run);
  mock.reset();
  const heldBefore = await heldMb();
  let grownMb = 0;
  for await (const _ of run(rows(1))) grownMb = (await heldMb()) - heldBefore;

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

it("A run of 50,000 rows needs no more memory at its end than after its thousandth row", async () => {
  const total = 50_000;
  const mock = createMockService();
  // Node collects a `Request` with a signal late and in batches of some hundred MB: the mock, which creates one for
  // each url and init, gets no signal. The client's own signals are unchanged.
  const fetch = (url: string, init: RequestInit) => mock.fetch(url, { ...init, signal: null });
  const audience = new AudienceClient({ ...mock.clientOptions, fetch });
  function* people() {
    for (let index = 0; index < total; index++)
      yield { email: `row-${index}@example.com`, email_opt_in: "SUBSCRIBED" as const };
  }
  const run = audience.bulk(people(), (each) => write.v1.customers.upsert(each), { total });
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
    rowsPerSecond: Math.round(total / ((performance.now() - startedMs) / 1_000)),
    heldMb: held.map((mb) => mb.toFixed(1)).join(" "),
  });
  expect(await run.summary()).toMatchObject({ total, succeeded: total });
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

it("A new long key for every request takes no memory", async () => {
  const { clientOptions } = createMockService();
  const apiKey = () => randomBytes(500).toString("hex");
  const fetch = async () => new Response("x".repeat(32 * 1024), { status: 400 });
  const audience = new AudienceClient({ ...clientOptions, apiKey, fetch, maxRetries: 0 });
  for (let call = 0; call < 200; call++) await failureOf(audience.v1.customers.get("c"));
  const before = await heldMb();

  for (let call = 0; call < 1_500; call++) await failureOf(audience.v1.customers.get("c"));

  expect((await heldMb()) - before).toBeLessThan(30);
});
