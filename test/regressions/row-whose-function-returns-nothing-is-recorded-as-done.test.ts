import { ConfigurationError, type BulkCall, type BulkRequest } from "audience-sdk";
import { expect, it } from "vitest";
import { collectRun, LoggedCheckpoint, rows, createFixture, type Row, key } from "../bulk/fixture.ts";

it("call options that are no object are refused, with or without `request`", async () => {
  const { audience, mock } = createFixture();

  const run = audience.bulk(rows(1), (row) => audience.v1.customers.upsert(row, 5 as never));

  await expect(run).rejects.toBeInstanceOf(ConfigurationError);
  expect(mock.requests).toEqual([]);
});

it.each([
  ["without `request`", false],
  ["with `request`", true],
])(
  "%s: the run ends, no row is recorded as done, and the next run sends every row",
  async (_, isHandedOn) => {
    const { audience, mock, upsert } = createFixture(
      { faults: [{ kind: "500-before", times: 7 }] },
      { maxRetries: 0 },
    );
    const checkpoint = new LoggedCheckpoint();
    // The compiler refuses a function without a return value.
    const call = ((row: Row, request: BulkRequest) => {
      void audience.v1.customers.upsert(row, isHandedOn ? request : undefined).catch(() => undefined);
    }) as unknown as BulkCall<Row>;

    const { results, error } = await collectRun(audience.bulk(rows(10), call, { key, checkpoint }));
    const done = [...checkpoint.states.values()].filter((state) => state === "succeeded");
    const after = await audience.withOptions({ maxRetries: 9 }).bulk(rows(10), upsert, { key, checkpoint });

    expect(error).toBeInstanceOf(ConfigurationError);
    expect(new Set(results.map(({ status }) => status))).toEqual(new Set(["unknown"]));
    expect(done).toEqual([]);
    expect(after.succeeded + after.unknown).toBe(10);
    expect(after.skipped).toBe(0);
    expect(mock.requests.length).toBeGreaterThanOrEqual(10);
  },
);
