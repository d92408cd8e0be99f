import { expect, it } from "vitest";
import { createFixture, key, LoggedCheckpoint, row, type Row } from "../bulk/fixture.ts";

it("a row that had failed opts out on a later night, over a consent that was written when it failed", async () => {
  const { audience, mock } = createFixture();
  const options = { checkpoint: new LoggedCheckpoint(), key };
  const refusing = audience.withOptions({ fetch: async () => Response.json({}, { status: 400 }) });
  const night = (item: Row, client = audience) =>
    audience.bulk([item], (contact, request) => client.v1.customers.upsert(contact, request), options);
  const statuses: string[] = [];
  for await (const { status } of night({ ...row(0), email_opt_in: "NON_SUBSCRIBED" }, refusing)) {
    statuses.push(status);
    await audience.v1.customers.upsert(row(0));
  }

  const second = await night({ ...row(0), email_opt_in: "UNSUBSCRIBED" });

  expect(statuses).toEqual(["failed"]);
  expect(second).toMatchObject({ succeeded: 1 });
  expect(mock.organization("mock-organization").contacts).toMatchObject([{ email_opt_in: "UNSUBSCRIBED" }]);
});
