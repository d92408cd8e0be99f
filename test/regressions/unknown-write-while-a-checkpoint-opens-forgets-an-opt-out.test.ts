import { expect, it } from "vitest";
import { createFixture, key, LoggedCheckpoint, row } from "../bulk/fixture.ts";

it("a write of unknown outcome while the checkpoint opens does not make the recorded opt-out forgotten", async () => {
  const { audience, mock, upsert } = createFixture();
  const { customers } = audience.withOptions({ maxRetries: 0 }).v1;
  const checkpoint = new LoggedCheckpoint();
  const options = { checkpoint, key };
  for await (const _ of audience.bulk([row(0)], upsert, options))
    await customers.upsert({ ...row(0), email_opt_in: "UNSUBSCRIBED" });
  const open = checkpoint.open.bind(checkpoint);
  checkpoint.open = async () => {
    mock.addFault({ kind: "reset-before", times: 1 });
    await expect(customers.upsert(row(0))).rejects.toMatchObject({ outcome: "unknown" });
    return await open();
  };

  const second = await audience.bulk([{ ...row(0), first_name: "Ada" }], upsert, options);

  expect(second).toMatchObject({ superseded: 1 });
  expect(mock.organization("mock-organization").contacts).toMatchObject([{ email_opt_in: "UNSUBSCRIBED" }]);
});
