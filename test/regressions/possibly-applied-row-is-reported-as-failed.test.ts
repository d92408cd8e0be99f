import type { BulkRequest } from "audience-sdk";
import { expect, it } from "vitest";
import { collectRun, createFixture, rows, type Row } from "../bulk/fixture.ts";

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
  const wrap = async (row: Row, request: BulkRequest) => {
    try {
      await audience.v1.customers.upsert(row, { ...request, maxRetries: 0 });
    } catch (cause) {
      throw new Error("my own", { cause });
    }
  };

  const { results } = await collectRun(audience.bulk(rows(1), wrap));

  expect(results).toMatchObject([{ status: "unknown", error: { message: "my own" } }]);
  expect(mock.organization("mock-organization").contacts).toHaveLength(1);
});
