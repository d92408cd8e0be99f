import { ConfigurationError, type AudienceClient, type BulkRequest } from "audience-sdk";
import { describe, expect, it } from "vitest";
import { collectRun, createFixture, key, row, rows, type Row } from "./fixture.ts";
import { MemoryCheckpoint } from "./memory-checkpoint.ts";

const message =
  "In the function of bulk a call needs the row's request: (row, request) => audience.v1.customers.upsert(row, request).";

type Call = (audience: AudienceClient) => (item: Row, request: BulkRequest) => Promise<unknown>;

/** Functions of rows whose synchronous part makes a call without `request`. */
const forgetful: [string, Call][] = [
  [
    "that makes one call",
    ({ v1 }) =>
      (item) =>
        v1.customers.upsert(item),
  ],
  [
    "with options of its own",
    ({ v1 }) =>
      (item) =>
        v1.customers.upsert(item, { timeoutMs: 1_000 }),
  ],
  [
    "that is async",
    ({ v1 }) =>
      async (item) =>
        await v1.customers.upsert(item),
  ],
  [
    "that reads",
    ({ v1 }) =>
      (item) =>
        v1.customers.get(item.email),
  ],
  ["of a view", (audience) => (item) => audience.withOptions({ maxRetries: 0 }).v1.customers.upsert(item)],
  [
    "of the other family",
    ({ v2 }) =>
      ({ email }) => {
        const consent = { createdAt: "2026-01-01T00:00:00Z", ip: "192.0.2.1", source: "import" };
        const channels = { email: { status: "subscribed" } };
        const identifiers = [{ type: "email" as const, id: email, channels, consent }];
        return v2.contacts.upsert({ firstName: "Ada", listIds: [], identifiers });
      },
  ],
  [
    "of a custom request",
    ({ v1 }) =>
      (item) =>
        v1.request({ method: "POST", path: "/api/v1/customer/create", body: item }, { repeatable: true }),
  ],
];

describe("A call in the synchronous part of a row's function without `request`", () => {
  it.each(forgetful)("%s rejects, sends nothing, and ends the run", async (_, callOf) => {
    const { audience, mock } = createFixture();

    const { results, error } = await collectRun(audience.bulk(rows(3), callOf(audience), { concurrency: 1 }));

    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error).toMatchObject({ message, outcome: "not-sent" });
    expect(results).toMatchObject([{ index: 0, status: "failed", error }]);
    expect(mock.requests).toEqual([]);
  });

  it("leaves the row unsent for the next run", async () => {
    const { audience, mock, upsert } = createFixture();
    const options = { key, checkpoint: new MemoryCheckpoint() };
    await collectRun(audience.bulk(rows(2), (item) => audience.v1.customers.upsert(item), options));

    const next = await audience.bulk(rows(2), upsert, options);

    expect(next).toMatchObject({ succeeded: 2 });
    expect(mock.requests).toHaveLength(2);
  });
});

it("A call after the synchronous part, or of another client, needs no `request`", async () => {
  const { audience, mock, upsert } = createFixture();
  const other = createFixture({}, mock.clientOptions);
  const call = async (item: Row, request: BulkRequest) => {
    await other.audience.v1.contactGroups.get("mock-list");
    await audience.v1.contactGroups.get("mock-list");
    return await upsert(item, request);
  };

  expect(await audience.bulk(rows(1), call)).toMatchObject({ succeeded: 1 });
  expect(mock.requests).toHaveLength(3);
});

it("A call beside the run, while a row's function waits, needs no `request`", async () => {
  const { audience, mock, upsert } = createFixture({ latencyMs: 5 });
  const ended = collectRun(audience.bulk(rows(2), upsert));

  await audience.v1.customers.upsert(row(5));

  expect((await ended).results.map(({ status }) => status)).toEqual(["succeeded", "succeeded"]);
  expect(mock.requests).toHaveLength(3);
});
