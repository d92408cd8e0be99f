import type { BulkRequest } from "audience-sdk";
import { expect, it } from "vitest";
import { createFixture, key, LoggedCheckpoint, row, type Row } from "../bulk/fixture.ts";

type Item = Row & { readonly first_name: string };

it("a superseded row whose consent has changed is sent with all its calls, also those without a consent", async () => {
  const { audience, mock } = createFixture();
  const options = { checkpoint: new LoggedCheckpoint(), key };
  const call = async ({ email, email_opt_in, first_name }: Item, request: BulkRequest) => {
    await audience.v1.contactGroups.addContact("mock-list", { email, email_opt_in }, request);
    return await audience.v1.customers.upsert({ email, first_name }, request);
  };
  const night = (email_opt_in: Row["email_opt_in"], first_name: string) =>
    audience.bulk([{ ...row(0), email_opt_in, first_name }], call, options);
  for await (const _ of night("NON_SUBSCRIBED", "Ada")) await audience.v1.customers.upsert(row(0));

  const nights = [await night("NON_SUBSCRIBED", "Ada L."), await night("UNSUBSCRIBED", "A. L.")];

  expect(nights).toMatchObject([{ superseded: 1 }, { succeeded: 1 }]);
  expect(mock.organization("mock-organization").contacts).toMatchObject([
    { email_opt_in: "UNSUBSCRIBED", first_name: "A. L." },
  ]);
});
