import type { V1Contact } from "audience-sdk";
import { expect, it } from "vitest";
import { createFixture, LoggedCheckpoint } from "../bulk/fixture.ts";

it("An opt-out by phone that is new is sent after a superseded night, also with a new e-mail address", async () => {
  const { audience, mock } = createFixture();
  const { customers } = audience.v1;
  const options = { key: () => "7", checkpoint: new LoggedCheckpoint() };
  const phone = "+15550100";
  const night = async (row: V1Contact, meanwhile?: () => Promise<unknown>) => {
    async function* rows() {
      await meanwhile?.();
      yield row;
    }
    const ends: string[] = [];
    const run = audience.bulk(rows(), (contact, request) => customers.upsert(contact, request), options);
    for await (const { status } of run) ends.push(status);
    return ends.join();
  };
  const row = { email: "old@example.com", email_opt_in: "SUBSCRIBED", phone } as const;
  const optIn = () => customers.upsert({ phone, phone_opt_in: "SUBSCRIBED" });
  expect(await night({ ...row, phone_opt_in: "NON_SUBSCRIBED" }, optIn)).toBe("superseded");

  expect(await night({ ...row, email: "new@example.com", phone_opt_in: "UNSUBSCRIBED" })).toBe("succeeded");

  expect(mock.organization("mock-organization").contacts).toMatchObject([
    { email: "new@example.com", phone, phone_opt_in: "UNSUBSCRIBED" },
  ]);
});
