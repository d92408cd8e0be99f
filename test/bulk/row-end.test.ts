import { isAudienceError, type BulkRequest } from "audience-sdk";
import { expect, it } from "vitest";
import { collectRun, createFixture, key, row, rows, type Row } from "./fixture.ts";
import { MemoryCheckpoint } from "./memory-checkpoint.ts";

/** A run whose function catches what its writes reject with, and a later run of the same rows without faults. */
async function runTwice(
  { audience }: ReturnType<typeof createFixture>,
  send: (item: Row, request: BulkRequest) => Promise<unknown>,
) {
  const checkpoint = new MemoryCheckpoint();
  const settle = (item: Row, request: BulkRequest) => Promise.allSettled([send(item, request)]);
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

  const { ends, later } = await runTwice(fixture, (item, request) =>
    fixture.upsert({ ...item, email: item.email.replace("row-0@", "row 0@") }, request),
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

  const { first, ends, later } = await runTwice(fixture, async (item, request) => {
    await fixture.upsert(item, request);
    await fixture.audience.v1.customers.list({}, request);
  });

  expect(first.error).toBeUndefined();
  expect(ends).toEqual(["succeeded", "succeeded"]);
  expect(later).toEqual(["skipped", "skipped"]);
});

it("A row whose function writes again after a failure has succeeded", async () => {
  const fixture = createFixture({ faults: [{ kind: "redirect", times: 1 }] });

  const { ends, later } = await runTwice(fixture, (item, request) =>
    fixture.upsert(item, request).catch(() => fixture.upsert(item, request)),
  );

  expect(ends).toEqual(["succeeded", "succeeded"]);
  expect(later).toEqual(["skipped", "skipped"]);
});

it("A row is unknown if its isCurrent throws after an attempt that may have been applied", async () => {
  const { audience, upsert, mock } = createFixture({ faults: [{ kind: "500-after", times: 1 }] });
  let asked = 0;
  const isCurrent = () => {
    if (asked++ > 0) throw new Error("the database is gone");
    return true;
  };

  const { results } = await collectRun(audience.bulk(rows(1), upsert, { isCurrent }));

  expect(results).toMatchObject([{ status: "unknown", error: { message: "the database is gone" } }]);
  expect(mock.organization("mock-organization").contacts).toHaveLength(1);
});

it("A row is unknown if its function wraps the error of a call with an unknown outcome", async () => {
  const { audience, mock } = createFixture({ faults: [{ kind: "500-after" }] });
  const wrap = async (item: Row, request: BulkRequest) => {
    try {
      await audience.v1.customers.upsert(item, { ...request, maxRetries: 0 });
    } catch (cause) {
      throw new Error("my own", { cause });
    }
  };

  const { results } = await collectRun(audience.bulk(rows(1), wrap));

  expect(results).toMatchObject([{ status: "unknown", error: { message: "my own" } }]);
  expect(mock.organization("mock-organization").contacts).toHaveLength(1);
});

it("Of a superseded row, a call that was sent before says `unknown`, and so does the row", async () => {
  const { audience, mock } = createFixture({ faults: [{ kind: "500-after", times: 1 }] });
  const outcomes: string[] = [];
  const note = (error: unknown) => {
    if (isAudienceError(error)) outcomes.push(`${error.request?.operation}: ${error.outcome}`);
  };
  const send = async ({ email, email_opt_in }: Row, request: BulkRequest) => {
    const sent = audience.v1.customers.upsert({ email, email_opt_in }, request).catch(note);
    // The other call begins once the first has been sent.
    while (mock.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    const other = { email: `other-${email}`, email_opt_in };
    await Promise.all([sent, audience.v1.contactGroups.addContact("mock-list", other, request).catch(note)]);
  };

  const isCurrent = () => mock.requests.length === 0;
  const { results } = await collectRun(audience.bulk(rows(1), send, { isCurrent }));

  expect(outcomes.toSorted()).toEqual([
    "v1.contactGroups.addContact: not-sent",
    "v1.customers.upsert: unknown",
  ]);
  expect(results).toMatchObject([{ status: "superseded", error: { outcome: "unknown" } }]);
});

it("A superseded row says `unknown` if another of its calls may have been carried out", async () => {
  const { audience, mock } = createFixture({ faults: [{ kind: "500-after", times: 1 }] });
  const send = async ({ email, email_opt_in }: Row, request: BulkRequest) => {
    const once = { ...request, maxRetries: 0 };
    await Promise.allSettled([audience.v1.customers.upsert({ email, email_opt_in }, once)]);
    await audience.v1.customers.upsert({ email: `other-${email}`, email_opt_in }, request);
  };

  const isCurrent = () => mock.requests.length === 0;
  const { results } = await collectRun(audience.bulk(rows(1), send, { isCurrent }));

  expect(results).toMatchObject([{ status: "superseded", error: { code: "aborted", outcome: "unknown" } }]);
});

it("a row that needs no call is asked for again by the next run", async () => {
  const { audience, mock, upsert } = createFixture();
  const checkpoint = new MemoryCheckpoint();
  const call = async (item: Row, request: BulkRequest) =>
    item.email_opt_in === "SUBSCRIBED" ? undefined : await upsert(item, request);
  const items: Row[] = [row(0), { ...row(1), email_opt_in: "UNSUBSCRIBED" }];

  const nights = [1, 2].map(() => audience.bulk(items, call, { checkpoint, key }));

  expect([await nights[0], await nights[1]]).toMatchObject([{ succeeded: 2 }, { succeeded: 1, skipped: 1 }]);
  expect(mock.requests).toHaveLength(1);
});

it("a row that only reads is recorded, and skipped by the next run", async () => {
  const { audience, mock } = createFixture();
  const checkpoint = new MemoryCheckpoint();
  const read = (_: Row, request: BulkRequest) => audience.v1.customers.list({}, request);

  await audience.bulk([row(0)], read, { checkpoint, key });
  const second = await audience.bulk([row(0)], read, { checkpoint, key });

  expect(second).toMatchObject({ skipped: 1 });
  expect(mock.requests).toHaveLength(1);
});
