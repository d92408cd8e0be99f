import type { BulkRequest } from "audience-sdk";
import { expect, it } from "vitest";
import { createFixture, key, LoggedCheckpoint, row, type Row } from "../bulk/fixture.ts";

it("a row whose call with the consent was not reached is superseded by an opt-out that was written after it", async () => {
  const { audience, mock } = createFixture();
  const options = { checkpoint: new LoggedCheckpoint(), key, stopWhen: () => false };
  let listId = "gone";
  const call = async (item: Row, request: BulkRequest) => {
    await audience.v1.events.send({ eventName: "imported", contact: { email: item.email } }, request);
    // The record of the event has no consent, and that of a write that may be repeated is not written again.
    return await audience.v1.contactGroups.addContact(listId, item, request);
  };
  const statuses: string[] = [];
  for await (const { status } of audience.bulk([row(0)], call, options)) {
    statuses.push(status);
    await audience.v1.customers.upsert({ ...row(0), email_opt_in: "UNSUBSCRIBED" });
  }
  listId = "mock-list";

  const second = await audience.bulk([row(0)], call, options);

  expect(statuses).toEqual(["unknown"]);
  expect(second).toMatchObject({ superseded: 1 });
  expect(mock.organization("mock-organization").contacts).toMatchObject([{ email_opt_in: "UNSUBSCRIBED" }]);
});
