import type { BulkRequest, V1Contact } from "audience-sdk";
import { expect, it } from "vitest";
import { collectRun, createFixture, LoggedCheckpoint } from "../bulk/fixture.ts";

const email = "ada@example.com";
type Contact = V1Contact & { email: string };
const key = (row: Contact) => row.email;

/** A run over one row; `meanwhile` is called before the row is sent. */
async function night(checkpoint: LoggedCheckpoint, contact: Contact, meanwhile?: V1Contact) {
  const { audience, mock } = createFixture();
  const send = async (row: Contact, request: BulkRequest) => {
    // What a row's function starts before its first `await` belongs to the row.
    await Promise.resolve();
    if (meanwhile) await audience.v1.customers.upsert(meanwhile);
    return await audience.v1.customers.upsert(row, request);
  };
  const { results } = await collectRun(audience.bulk([contact], send, { key, checkpoint }));
  const sent = mock.requests.map(({ body }) => (body as V1Contact).email_opt_in);
  return { status: results[0]?.status, sent };
}

// The row does not name the phone: its own consent had changed, and it never arrived.
it.each([
  ["a phone", { phone: "+1 555 0100", phone_opt_in: "SUBSCRIBED" } as const],
  ["a suppression", { is_suppressed: false }],
])("An opt-out that is newer than a consent of %s is sent", async (_, more) => {
  const checkpoint = new LoggedCheckpoint();
  const meanwhile = { email, email_opt_in: "SUBSCRIBED", ...more } as const;
  const first = await night(checkpoint, { email, email_opt_in: "SUBSCRIBED" }, meanwhile);
  const unchanged = await night(checkpoint, { email, email_opt_in: "SUBSCRIBED", first_name: "Ada" });

  const changed = await night(checkpoint, { email, email_opt_in: "UNSUBSCRIBED" });

  expect([first.status, unchanged.status, changed.status]).toEqual(["superseded", "superseded", "succeeded"]);
  expect([unchanged.sent, changed.sent]).toEqual([[], ["UNSUBSCRIBED"]]);
});

it("A row that names the phone and leaves its consent to the service stays superseded", async () => {
  const checkpoint = new LoggedCheckpoint();
  const phone = "+1 555 0100";
  const meanwhile = { email, email_opt_in: "SUBSCRIBED", phone, phone_opt_in: "UNSUBSCRIBED" } as const;
  await night(checkpoint, { email, phone, email_opt_in: "SUBSCRIBED" }, meanwhile);

  const changed = await night(checkpoint, { email, phone, email_opt_in: "NON_SUBSCRIBED" });

  expect(changed).toEqual({ status: "superseded", sent: [] });
});
