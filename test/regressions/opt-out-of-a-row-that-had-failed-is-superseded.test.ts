import { expect, it } from "vitest";
import { createFixture, key, LoggedCheckpoint, row, type Row } from "../bulk/fixture.ts";

it("a row that had failed opts out on a later night, over a consent that was written when it failed", async () => {
  const { audience, mock } = createFixture();
  const options = { checkpoint: new LoggedCheckpoint(), key };
  const path = "/api/v1/customer/create";
  const night = (item: Row) =>
    audience.bulk(
      [item],
      (body, request) => audience.v1.request({ method: "POST", path, body }, request),
      options,
    );
  const statuses: string[] = [];
  for await (const { status } of night({
    ...row(0),
    email_opt_in: "NON_SUBSCRIBED",
    firstName: "Ada",
  } as Row)) {
    statuses.push(status);
    await audience.v1.customers.upsert(row(0));
  }

  const second = await night({ ...row(0), email_opt_in: "UNSUBSCRIBED" });

  expect(statuses).toEqual(["failed"]);
  expect(second).toMatchObject({ succeeded: 1 });
  expect(mock.organization("mock-organization").contacts).toMatchObject([{ email_opt_in: "UNSUBSCRIBED" }]);
});
