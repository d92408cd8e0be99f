import { expect, it } from "vitest";
import { createFixture, key, LoggedCheckpoint, row, type Row } from "../bulk/fixture.ts";

const optIn = { ...row(0), first_name: "Ada" };
// The column is missing.
const { email_opt_in: _, ...withoutConsent } = optIn;
const optOut: Row = { ...row(0), email_opt_in: "UNSUBSCRIBED" };

/** Each night with the row as it is then; `after` runs at the end of the first. */
async function nightsOf(items: readonly object[], { before, after }: Record<"before" | "after", boolean>) {
  const { audience, mock, upsert } = createFixture();
  const checkpoint = new LoggedCheckpoint();
  const statuses: string[] = [];
  for (const [night, item] of items.entries()) {
    async function* source() {
      if (night === 0 && before) await audience.v1.customers.upsert(optOut);
      yield item as Row;
    }
    for await (const { status } of audience.bulk(source(), upsert, { checkpoint, key })) {
      statuses.push(status);
      if (night === 0 && after) await audience.v1.customers.upsert(optOut);
    }
  }
  return { statuses, optIn: mock.organization("mock-organization").contacts[0]?.email_opt_in };
}

it("a superseded row that lacks its consent for a night stays superseded when it states the same one again", async () => {
  const nights = await nightsOf([optIn, withoutConsent, optIn], { before: true, after: false });

  expect(nights).toEqual({ statuses: ["superseded", "superseded", "superseded"], optIn: "UNSUBSCRIBED" });
});

it("a row that was sent before an opt-out, and lacks its consent for a night, is superseded from then on", async () => {
  const nights = await nightsOf([optIn, withoutConsent, { ...optIn, first_name: "Ada L." }], {
    before: false,
    after: true,
  });

  expect(nights).toEqual({ statuses: ["succeeded", "superseded", "superseded"], optIn: "UNSUBSCRIBED" });
});

it("another consent than the one before the gap is sent", async () => {
  const other = { ...optIn, email_opt_in: "NON_SUBSCRIBED" };
  const nights = await nightsOf([optIn, withoutConsent, other], { before: true, after: false });

  expect(nights.statuses).toEqual(["superseded", "superseded", "succeeded"]);
});
