import type { BulkRequest } from "audience-sdk";
import { describe, expect, it } from "vitest";
import { createFixture, key, LoggedCheckpoint, row, type Row } from "../bulk/fixture.ts";

const optIn = { ...row(0), first_name: "Ada" };
// The column is missing.
const { email_opt_in: _, ...withoutConsent } = optIn;
const optOut: Row = { ...row(0), email_opt_in: "UNSUBSCRIBED" };

type World = ReturnType<typeof createFixture>;
type Call = (item: Row, request: BulkRequest) => Promise<unknown>;

/** The calls that carry a consent; without one the service decides. */
const calls: [string, (world: World) => Call][] = [
  ["customers.upsert", ({ upsert }) => upsert],
  [
    "contactGroups.addContact",
    ({ audience }) =>
      (item, request) =>
        audience.v1.contactGroups.addContact("mock-list", item, { ...request, consent: "service-decides" }),
  ],
];

/** Each night with the row as it is then; another call opts out before or after the row of the first. */
async function nightsOf(
  callOf: (world: World) => Call,
  items: readonly object[],
  { before, after }: Record<"before" | "after", boolean>,
) {
  const world = createFixture();
  const { audience, mock } = world;
  const checkpoint = new LoggedCheckpoint();
  const statuses: string[] = [];
  for (const [night, item] of items.entries()) {
    async function* source() {
      if (night === 0 && before) await audience.v1.customers.upsert(optOut);
      yield item as Row;
    }
    for await (const { status } of audience.bulk(source(), callOf(world), { checkpoint, key })) {
      statuses.push(status);
      if (night === 0 && after) await audience.v1.customers.upsert(optOut);
    }
  }
  return { statuses, optIn: mock.organization("mock-organization").contacts[0]?.email_opt_in };
}

describe.each(calls)("%s:", (_name, callOf) => {
  it("a superseded row that lacks its consent for a night stays superseded when it states the same one again", async () => {
    const nights = await nightsOf(callOf, [optIn, withoutConsent, optIn], { before: true, after: false });

    expect(nights).toEqual({ statuses: ["superseded", "superseded", "superseded"], optIn: "UNSUBSCRIBED" });
  });

  it("a row that was sent before an opt-out, and lacks its consent for a night, is superseded from then on", async () => {
    const nights = await nightsOf(callOf, [optIn, withoutConsent, { ...optIn, first_name: "Ada L." }], {
      before: false,
      after: true,
    });

    expect(nights).toEqual({ statuses: ["succeeded", "superseded", "superseded"], optIn: "UNSUBSCRIBED" });
  });

  it("another consent than the one before the gap is sent", async () => {
    const other = { ...optIn, email_opt_in: "NON_SUBSCRIBED" };
    const nights = await nightsOf(callOf, [optIn, withoutConsent, other], { before: true, after: false });

    expect(nights.statuses).toEqual(["superseded", "superseded", "succeeded"]);
  });
});
