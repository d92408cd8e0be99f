import { expect, it } from "vitest";
import { collectRun, rows, createFixture } from "../bulk/fixture.ts";

it("awaiting a run executes it and returns its summary", async () => {
  const { audience, mock, upsert } = createFixture();

  const summary = await audience.bulk(rows(3), upsert);

  expect(summary).toMatchObject({ total: 3, succeeded: 3, superseded: 0 });
  expect(mock.requests).toHaveLength(3);
});

it("a run that is iterated can be awaited too, and returns the same summary as `summary()`", async () => {
  const { audience, mock, upsert } = createFixture();
  const run = audience.bulk(rows(3), upsert);

  await collectRun(run);

  expect(await run).toEqual(await run.summary());
  expect(mock.requests).toHaveLength(3);
});

it("a run that ends with an error rejects", async () => {
  const { audience, upsert } = createFixture({}, { apiKey: "wrong-key" });

  await expect(audience.bulk(rows(3), upsert)).rejects.toMatchObject({ code: "authentication" });
});
