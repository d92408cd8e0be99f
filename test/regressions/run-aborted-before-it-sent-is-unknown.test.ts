import { AudienceClient } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { expect, it } from "vitest";

const rows = [{ email: "ada@example.com" }, { email: "bob@example.com" }];

function importing(signal: AbortSignal) {
  const mock = createMockService();
  const audience = new AudienceClient(mock.clientOptions);
  const run = audience.bulk(rows, (row, request) => audience.v1.customers.upsert(row, request), {
    signal,
    concurrency: 1,
  });
  return { mock, run };
}

it("A run that is aborted before its first request has the outcome not-sent", async () => {
  const { mock, run } = importing(AbortSignal.abort());

  await expect(run.summary()).rejects.toMatchObject({ code: "aborted", outcome: "not-sent" });
  expect(mock.requests).toEqual([]);
});

it("A run that is aborted later has the outcome unknown", async () => {
  const controller = new AbortController();
  const { mock, run } = importing(controller.signal);

  const loop = async () => {
    for await (const { status } of run) if (status === "succeeded") controller.abort();
  };

  await expect(loop()).rejects.toMatchObject({ code: "aborted", outcome: "unknown" });
  expect(mock.requests).toHaveLength(1);
});
