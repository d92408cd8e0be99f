import { isAudienceError, type BulkRequest } from "audience-sdk";
import { expect, it } from "vitest";
import { collectRun, createFixture, key, LoggedCheckpoint, rows, type Row } from "../bulk/fixture.ts";

it.each(["500-before", "429"] as const)(
  "An isCurrent whose own call fails with a %s is asked once, and its error is the row's",
  async (kind) => {
    const { audience, upsert, mock } = createFixture({
      faults: [{ kind, operation: "v1.contactGroups.get", retryAfter: 0, times: 99 }],
    });
    const isCurrent = async () => {
      await audience.v1.contactGroups.get("mock-list", { maxRetries: 0 });
      return true;
    };

    const { results } = await collectRun(audience.bulk(rows(1), upsert, { isCurrent }));

    expect(mock.requests.map(({ operation }) => operation)).toEqual(["v1.contactGroups.get"]);
    const [result] = results;
    expect(result?.status).toBe("failed");
    expect(isAudienceError(result?.error) && result.error.request?.operation).toBe("v1.contactGroups.get");
  },
);

it.each([
  ["throws", () => Promise.reject(new Error("database down")), "database down"],
  ["returns nothing", async () => undefined as never, "isCurrent must return true or false."],
])(
  "A row whose isCurrent %s is not recorded as done, even if its function catches the error",
  async (...args) => {
    const [, isCurrent, message] = args;
    const { audience, mock } = createFixture();
    const checkpoint = new LoggedCheckpoint();
    const settle = (row: Row, request: BulkRequest) =>
      Promise.allSettled([audience.v1.customers.upsert(row, request)]);

    const { results } = await collectRun(audience.bulk(rows(1), settle, { key, checkpoint, isCurrent }));

    expect(results).toMatchObject([{ status: "failed", error: { message } }]);
    expect([...checkpoint.states.values()]).toEqual(["failed"]);
    expect(mock.requests).toEqual([]);
  },
);
