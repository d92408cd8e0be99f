import type { BulkRequest } from "audience-sdk";
import { expect, it } from "vitest";
import { createFixture, key, LoggedCheckpoint, row, type Row } from "../bulk/fixture.ts";

type World = ReturnType<typeof createFixture>;
type Item = Row & { readonly first_name?: string; readonly city?: string; readonly listId?: string };

const refuse = async () => Response.json({}, { status: 400 });

/** The service refuses a row with a city. */
const upsert = (item: Item, request: BulkRequest, { audience }: World) => {
  const client = item.city === undefined ? audience : audience.withOptions({ fetch: refuse });
  return client.v1.customers.upsert(item, request);
};

const eventFirst = async ({ listId = "mock-list", ...contact }: Item, request: BulkRequest, world: World) => {
  const { v1 } = world.audience;
  await v1.events.send({ eventName: "imported", contact: { email: contact.email } }, request);
  return await v1.contactGroups.addContact(listId, contact, request);
};

it.each([
  ["was invalid", "invalid", { first_name: "x".repeat(101) }, upsert],
  ["was refused by the service", "failed", { city: "London" }, upsert],
  ["ended as unknown after a call without a consent", "unknown", { listId: "gone" }, eventFirst],
] as const)(
  "a row with an earlier success that %s is superseded by an opt-out that was written after it",
  async (_, status, fault, call) => {
    const world = createFixture();
    const { audience, mock } = world;
    const options = { checkpoint: new LoggedCheckpoint(), key, stopWhen: () => false };
    const night = (item: Item) =>
      audience.bulk([item], (each, request) => call(each, request, world), options);
    await night({ ...row(0), email_opt_in: "NON_SUBSCRIBED" });
    const statuses: string[] = [];
    for await (const result of night({ ...row(0), ...fault })) {
      statuses.push(result.status);
      await audience.v1.customers.upsert({ ...row(0), email_opt_in: "UNSUBSCRIBED" });
    }

    const third = await night({ ...row(0), first_name: "Ada" });

    expect(statuses).toEqual([status]);
    expect(third).toMatchObject({ superseded: 1 });
    expect(mock.organization("mock-organization").contacts).toMatchObject([{ email_opt_in: "UNSUBSCRIBED" }]);
  },
);

it("a row whose new consent failed is sent on a later night, over a consent from before", async () => {
  const world = createFixture();
  const { audience, mock } = world;
  const options = { checkpoint: new LoggedCheckpoint(), key };
  const night = (item: Item) =>
    audience.bulk([item], (each, request) => upsert(each, request, world), options);
  for await (const _ of night(row(0)))
    await audience.v1.customers.upsert({ ...row(0), email_opt_in: "NON_SUBSCRIBED" });
  const optOut = { ...row(0), email_opt_in: "UNSUBSCRIBED" } as const;
  const second = await night({ ...optOut, city: "London" });

  const third = await night(optOut);

  expect([second, third]).toMatchObject([{ failed: 1 }, { succeeded: 1 }]);
  expect(mock.organization("mock-organization").contacts).toMatchObject([{ email_opt_in: "UNSUBSCRIBED" }]);
});
