import { AudienceClient } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { expect, it } from "vitest";
import { key, LoggedCheckpoint, type Row } from "../bulk/fixture.ts";
import { failureOf } from "../transport/failure.ts";

it.each(['{"email":{"statuses":["UNSUBSCR', '{"email":5}', "null"])(
  "A record of a consent that is damaged (%s) ends the run, and its contact is not subscribed again",
  async (damaged) => {
    const mock = createMockService();
    const audience = new AudienceClient(mock.clientOptions);
    const checkpoint = new LoggedCheckpoint();
    const importRows = (rows: Row[]) =>
      audience.bulk(rows, (row, request) => audience.v1.customers.upsert(row, request), { checkpoint, key });
    await importRows([]);
    checkpoint.values.set("consent:email:ada@example.com", damaged);

    const run = importRows([{ email: "ada@example.com", email_opt_in: "SUBSCRIBED" }]);

    const error = await failureOf(run.summary());
    expect(error).toMatchObject({ code: "configuration" });
    expect(error.message).toContain("no valid record of a consent");
    expect(mock.requests).toEqual([]);
  },
);
