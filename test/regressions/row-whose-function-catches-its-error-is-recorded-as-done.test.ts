import type { BulkRequest } from "audience-sdk";
import { expect, it } from "vitest";
import { collectRun, createFixture, key, LoggedCheckpoint, rows, type Row } from "../bulk/fixture.ts";

/** A run whose function catches what its writes reject with, and a later run of the same rows without faults. */
async function runTwice(
  { audience }: ReturnType<typeof createFixture>,
  send: (row: Row, request: BulkRequest) => Promise<unknown>,
) {
  const checkpoint = new LoggedCheckpoint();
  const settle = (row: Row, request: BulkRequest) => Promise.allSettled([send(row, request)]);
  // Its key is another one in the later run.
  const options = { key, checkpoint, organization: "acme", concurrency: 1 };
  const first = await collectRun(audience.bulk(rows(2), settle, options));
  const later = createFixture();
  const { results } = await collectRun(later.audience.bulk(rows(2), later.upsert, options));
  return {
    first,
    ends: first.results.map(({ status }) => status),
    later: results.map(({ status }) => status),
  };
}

it.each([
  ["500-before", "unknown", "server"],
  ["redirect", "failed", "redirect"],
] as const)(
  "A row whose function catches a %s has failed, and the next run sends it",
  async (kind, status, code) => {
    const fixture = createFixture({ faults: [{ kind, times: 1 }] }, { maxRetries: 0 });

    const { first, ends, later } = await runTwice(fixture, fixture.upsert);

    expect(ends).toEqual([status, "succeeded"]);
    expect(first.results[0]!.error).toMatchObject({ code });
    expect(later).toEqual(["succeeded", "skipped"]);
  },
);

it("A row whose function catches that its contact is wrong is invalid", async () => {
  const fixture = createFixture();

  const { ends, later } = await runTwice(fixture, (row, request) =>
    fixture.upsert({ ...row, email: row.email.replace("row-0@", "row 0@") }, request),
  );

  expect(ends).toEqual(["invalid", "succeeded"]);
  expect(later).toEqual(["succeeded", "skipped"]);
});

it.each([
  ["a wrong key", { apiKey: "wrong-key" }, undefined, "authentication"],
  ["a wait of over an hour", {}, { kind: "429", retryAfter: 4_000 }, "rate_limit"],
] as const)(
  "A row whose function catches %s ends the run, and the next run sends it",
  async (_, options, fault, code) => {
    const fixture = createFixture({ faults: fault ? [fault] : [] }, options);

    const { first, ends, later } = await runTwice(fixture, fixture.upsert);

    expect(first.error).toMatchObject({ code });
    expect(ends).toEqual(["failed"]);
    expect(later).toEqual(["succeeded", "succeeded"]);
  },
);

it("A row whose function catches the wait of a read after its write has succeeded", async () => {
  const wait = { kind: "429", retryAfter: 4_000, operation: "v1.customers.list" } as const;
  const fixture = createFixture({ faults: [wait] });

  const { first, ends, later } = await runTwice(fixture, async (row, request) => {
    await fixture.upsert(row, request);
    await fixture.audience.v1.customers.list({}, request);
  });

  expect(first.error).toBeUndefined();
  expect(ends).toEqual(["succeeded", "succeeded"]);
  expect(later).toEqual(["skipped", "skipped"]);
});

it("A row whose function writes again after a failure has succeeded", async () => {
  const fixture = createFixture({ faults: [{ kind: "redirect", times: 1 }] });

  const { ends, later } = await runTwice(fixture, (row, request) =>
    fixture.upsert(row, request).catch(() => fixture.upsert(row, request)),
  );

  expect(ends).toEqual(["succeeded", "succeeded"]);
  expect(later).toEqual(["skipped", "skipped"]);
});
