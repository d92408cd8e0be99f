import { AudienceClient } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { expect, it } from "vitest";
import { LoggedCheckpoint } from "../bulk/fixture.ts";
import { failureOf } from "../transport/failure.ts";

it.each(['{"email":{"statuses":["UNSUBSCR', '{"email":5}', "null"])(
  "A record of a consent that is damaged (%s) ends the run, and its contact is not subscribed again",
  async (damaged) => {
    const mock = createMockService();
    const audience = new AudienceClient(mock.clientOptions);
    const checkpoint = new LoggedCheckpoint();
    checkpoint.values.set("run", JSON.stringify({ id: "run-1", number: 1, since: 1, isKeyed: true }));
    checkpoint.values.set("consent:email:ada@example.com", damaged);

    const run = audience.bulk(
      [{ email: "ada@example.com", email_opt_in: "SUBSCRIBED" as const }],
      (row, request) => audience.v1.customers.upsert(row, request),
      { checkpoint, key: ({ email }) => email },
    );

    const error = await failureOf(run.summary());
    expect(error).toMatchObject({ code: "configuration" });
    expect(error.message).toContain("no valid record of a consent");
    expect(mock.requests).toEqual([]);
  },
);
