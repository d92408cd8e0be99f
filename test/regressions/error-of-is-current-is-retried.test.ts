import { isAudienceError } from "audience-sdk";
import { expect, it } from "vitest";
import { collectRun, createFixture, rows } from "../bulk/fixture.ts";

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
