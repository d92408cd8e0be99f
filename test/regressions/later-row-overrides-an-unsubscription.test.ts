import { expect, it } from "vitest";
import { row, rows, createFixture } from "../bulk/fixture.ts";

it("a contact that unsubscribes during a run is not subscribed again by a row that was read before", async () => {
  const { audience, mock, upsert } = createFixture();
  const run = audience.bulk(rows(30), upsert, { concurrency: 2 });

  for await (const { index } of run)
    if (index === 5) await audience.v1.customers.upsert({ ...row(20), email_opt_in: "UNSUBSCRIBED" });

  const contact = mock
    .organization("mock-organization")
    .contacts.find(({ email }) => email === row(20).email);
  expect(contact?.email_opt_in).toBe("UNSUBSCRIBED");
  expect(await run).toMatchObject({ succeeded: 29, superseded: 1 });
});
