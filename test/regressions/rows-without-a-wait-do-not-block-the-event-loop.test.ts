import { AudienceClient, ValidationError } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { describe, expect, it } from "vitest";

const count = 300_000;
const audience = new AudienceClient(createMockService().clientOptions);
const refused = () => {
  throw new ValidationError([{ path: [], code: "custom", message: "is refused" }]);
};

/** A practically endless source of rows; `read` counts the rows so far. */
function manyRows() {
  const rows = {
    read: 0,
    *[Symbol.iterator]() {
      while (rows.read < count) yield (rows.read += 1);
    },
  };
  return rows;
}

describe("A source that never waits does not block the event loop", () => {
  it("in a run: a timer can abort it", async () => {
    const rows = manyRows();

    const run = audience.bulk(rows, refused, { signal: AbortSignal.timeout(20) });

    await expect(run.summary()).rejects.toMatchObject({ code: "aborted" });
    expect(rows.read).toBeLessThan(count);
  });

  it("in a check: a timer comes before its end", async () => {
    const log: string[] = [];
    setTimeout(() => log.push("timer"), 0);

    await audience.bulk.check(manyRows(), () => ({ success: true }));
    log.push("check");

    expect(log).toEqual(["timer", "check"]);
  });
});
