import { AudienceClient, ConfigurationError } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { expect, it } from "vitest";
import { failureOf } from "../transport/failure.ts";
import { collectRun, createFixture, key, LoggedCheckpoint, rows, type Row } from "./fixture.ts";

it.each(['{"email":{"statuses":["UNSUBSCR', '{"email":5}', "null"])(
  "A record of a consent that is damaged (%s) ends the run, and its contact is not subscribed again",
  async (damaged) => {
    const mock = createMockService();
    const audience = new AudienceClient(mock.clientOptions);
    const checkpoint = new LoggedCheckpoint();
    const importRows = (items: Row[]) =>
      audience.bulk(items, (row, request) => audience.v1.customers.upsert(row, request), { checkpoint, key });
    await importRows([]);
    checkpoint.values.set("consent:email:ada@example.com", damaged);

    const run = importRows([{ email: "ada@example.com", email_opt_in: "SUBSCRIBED" }]);

    const error = await failureOf(run.summary());
    expect(error).toMatchObject({ code: "configuration" });
    expect(error.message).toContain("no valid record of a consent");
    expect(mock.requests).toEqual([]);
  },
);

const damagedRun =
  "The checkpoint's record of its run (`run`) is damaged, or of an earlier version that named no service. Restore " +
  "it, or end its run with the version that wrote it. Another checkpoint sends every row, and knows none of the " +
  "consents that this one keeps from being overridden.";

it.each([
  ["run", "null", damagedRun],
  ["run", "no JSON", damagedRun],
  // As before it named its service.
  ["run", '{"id":"a","number":1,"since":1,"isKeyed":true}', damagedRun],
  ["row:row-0@example.com", "sent yesterday", "The checkpoint holds no valid record of a row under `row:`."],
])("A checkpoint whose `%s` holds %o ends the run before anything is sent", async (name, value, message) => {
  const { audience, mock, upsert } = createFixture();
  const checkpoint = new LoggedCheckpoint();
  checkpoint.values.set(name, value);

  const { error } = await collectRun(audience.bulk(rows(1), upsert, { key, checkpoint }));

  expect(error).toEqual(new ConfigurationError(message));
  expect(mock.requests).toEqual([]);
});
