import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigurationError } from "audience-sdk";
import { fileCheckpoint } from "audience-sdk/checkpoint";
import { describe, expect, it, onTestFinished } from "vitest";
import { collectRun, createFixture, key, rows, type Row } from "./fixture.ts";
import { MemoryCheckpoint } from "./memory-checkpoint.ts";

describe("Without a key a checkpoint belongs to one run", () => {
  it.each([
    ["in memory", async () => new MemoryCheckpoint()],
    [
      "a file",
      async () => {
        const folder = await mkdtemp(join(tmpdir(), "keyless-"));
        onTestFinished(() => rm(folder, { recursive: true }));
        return fileCheckpoint(join(folder, "import.ckpt"));
      },
    ],
  ])("after a complete run, the next run sends every row: %s", async (_, create) => {
    const { audience, upsert, mock } = createFixture();
    const checkpoint = await create();
    const [monday, tuesday] = (["SUBSCRIBED", "UNSUBSCRIBED"] as const).map((email_opt_in) =>
      rows(5).map((each): Row => ({ ...each, email_opt_in })),
    );

    for (const day of [monday!, tuesday!, monday!])
      expect(await audience.bulk(day, upsert, { checkpoint })).toMatchObject({ succeeded: 5 });

    const { contacts } = mock.organization("mock-organization");
    expect(contacts.map(({ email_opt_in }) => email_opt_in)).toEqual(rows(5).map(() => "SUBSCRIBED"));
  });

  it("after an abort, the next run resumes", async () => {
    const { audience, mock, upsert, emails } = createFixture();
    const checkpoint = new MemoryCheckpoint();
    const stop = new AbortController();
    const first = audience.bulk(rows(5), upsert, { checkpoint, concurrency: 1, signal: stop.signal });
    for await (const { index } of first) if (index === 1) break;

    const second = await audience.bulk(rows(5), upsert, { checkpoint });

    expect(second.skipped).toBeGreaterThanOrEqual(2);
    expect(second.skipped + second.succeeded).toBe(5);
    expect(new Set(emails()).size).toBe(5);
    expect(mock.requests).toHaveLength(5);
    expect(await audience.bulk(rows(5), upsert, { checkpoint })).toMatchObject({ succeeded: 5 });
  });

  it("a run with a failed row is complete", async () => {
    const { audience, upsert } = createFixture(
      { faults: [{ kind: "500-before", times: 1 }] },
      { maxRetries: 0 },
    );
    const checkpoint = new MemoryCheckpoint();

    const summary = await audience.bulk(rows(2), upsert, { checkpoint });

    expect(summary).toMatchObject({ succeeded: 1, unknown: 1 });
    expect(await audience.bulk(rows(2), upsert, { checkpoint })).toMatchObject({ succeeded: 2 });
  });

  it.each([
    [
      "with a `key`",
      "without one",
      { key },
      {},
      "The checkpoint was written with a `key`. Run it with a `key` again",
    ],
    [
      "without a `key`",
      "with one",
      {},
      { key },
      "The checkpoint was written without a `key`. Run it without a `key` again",
    ],
  ])("a checkpoint that was written %s is refused %s", async (_, __, before, after, message) => {
    const { audience, mock, upsert } = createFixture();
    const checkpoint = new MemoryCheckpoint();
    for await (const first of audience.bulk(rows(3), upsert, { checkpoint, concurrency: 1, ...before }))
      if (first.status === "succeeded") break;
    const sent = mock.requests.length;
    const kept = checkpoint.lines;

    const { error } = await collectRun(audience.bulk(rows(3), upsert, { checkpoint, ...after }));

    expect(error).toEqual(new ConfigurationError(`${message}, or name another checkpoint.`));
    expect(mock.requests).toHaveLength(sent);
    expect([checkpoint.lines, checkpoint.log.at(-1)]).toEqual([kept, "close"]);
  });
});
