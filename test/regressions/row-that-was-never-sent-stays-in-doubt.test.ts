import { AudienceClient } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { expect, it } from "vitest";
import { LoggedCheckpoint } from "../bulk/fixture.ts";
import { failureOf } from "../transport/failure.ts";

it("A row whose call is aborted while isCurrent is asked was not sent, and is sent by the next run", async () => {
  const mock = createMockService();
  const audience = new AudienceClient(mock.clientOptions);
  const checkpoint = new LoggedCheckpoint();
  const controller = new AbortController();
  const log = () => new Promise((resolve) => setTimeout(resolve, 30));
  const rows = [{ email: "ada@example.com" }];
  const importRows = (signal: AbortSignal | undefined, isCurrent: () => boolean | Promise<boolean>) =>
    audience.bulk(
      rows,
      async (row, request) => {
        try {
          // Without an opt-in it must not be repeated.
          return await audience.v1.customers.upsert(row, request);
        } catch (error) {
          await log();
          throw error;
        }
      },
      { checkpoint, key: ({ email }) => email, isCurrent, ...(signal && { signal }) },
    );
  const aborted = importRows(controller.signal, async () => {
    controller.abort("stop");
    await new Promise((resolve) => setTimeout(resolve, 5));
    return true;
  });
  expect(await failureOf(aborted.summary())).toMatchObject({ code: "aborted" });
  expect(mock.requests).toEqual([]);

  expect(await importRows(undefined, () => true).summary()).toMatchObject({ succeeded: 1, unknown: 0 });
  expect(mock.requests).toHaveLength(1);
});
