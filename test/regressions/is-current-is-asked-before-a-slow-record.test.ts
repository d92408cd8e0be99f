import { expect, it } from "vitest";
import { collectRun, createFixture, key, LoggedCheckpoint, rows } from "../bulk/fixture.ts";

// Another process could write the contact between the answer and the end of the record.
it("isCurrent is asked after the row is recorded, right before it is sent", async () => {
  const { audience, upsert } = createFixture();
  const checkpoint = new LoggedCheckpoint();
  const isCurrent = () => checkpoint.log.push("isCurrent") > 0;

  await collectRun(audience.bulk(rows(1), upsert, { key, checkpoint, isCurrent }));

  const name = "row-0@example.com";
  expect(checkpoint.log).toEqual(["open", `${name}: sent`, "isCurrent", `${name}: succeeded`, "close"]);
});
