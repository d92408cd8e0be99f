import type { BulkRequest, V1OptIn } from "audience-sdk";
import { expect, it } from "vitest";
import { createFixture, key, LoggedCheckpoint, row, type Row } from "../bulk/fixture.ts";

interface Item {
  readonly email_opt_in: V1OptIn;
  readonly phone_opt_in: V1OptIn;
  readonly first_name: string;
}

const [email, phone] = ["ada@example.com", "+15550100"];

function createWorld() {
  const { audience, mock } = createFixture();
  const { customers } = audience.v1;
  const byPhoneThenEmail = async (item: Item, request: BulkRequest) => {
    const { email_opt_in, phone_opt_in, first_name } = item;
    await customers.upsert({ phone, phone_opt_in, first_name }, request);
    return await customers.upsert({ email, email_opt_in, first_name }, request);
  };
  const options = { checkpoint: new LoggedCheckpoint(), key: () => "ada", stopWhen: () => false };
  /** A night of one row; `write` is called while it runs, at its beginning. */
  const night = async (items: readonly Item[], write: () => Promise<unknown> = async () => undefined) => {
    const source = async function* () {
      await write();
      yield* items;
    };
    return await audience.bulk(source(), byPhoneThenEmail, options);
  };
  const emailOptIn = () =>
    mock.organization("mock-organization").contacts.find((contact) => contact.email === email)?.email_opt_in;
  return { customers, night, emailOptIn };
}

const optIn: Item = { email_opt_in: "SUBSCRIBED", phone_opt_in: "SUBSCRIBED", first_name: "Ada" };

it("a row that was superseded before the call with its e-mail consent does not override a later opt-out", async () => {
  const { customers, night, emailOptIn } = createWorld();
  await night([optIn], () => customers.upsert({ phone, phone_opt_in: "UNSUBSCRIBED" }));
  // The phone is as the row says again, and the e-mail address is not.
  await night([{ ...optIn, first_name: "Ada L." }], async () => {
    await customers.upsert({ phone, phone_opt_in: "NON_SUBSCRIBED" });
    await customers.upsert({ email, email_opt_in: "UNSUBSCRIBED" });
  });

  const third = await night([{ ...optIn, phone_opt_in: "NON_SUBSCRIBED" }]);

  expect(third).toMatchObject({ superseded: 1 });
  expect(emailOptIn()).toBe("UNSUBSCRIBED");
});

it("a changed consent is sent although the call before it states what it stated before", async () => {
  const { customers, night, emailOptIn } = createWorld();
  const first = await night([optIn], () => customers.upsert({ email, email_opt_in: "NON_SUBSCRIBED" }));

  const second = await night([{ ...optIn, email_opt_in: "UNSUBSCRIBED" }]);

  expect([first, second]).toMatchObject([{ superseded: 1 }, { succeeded: 1 }]);
  expect(emailOptIn()).toBe("UNSUBSCRIBED");
});

it("a row that states a consent after it left it to the service is sent", async () => {
  const { audience, mock } = createFixture();
  const options = { checkpoint: new LoggedCheckpoint(), key: () => "ada" };
  const night = (items: AsyncIterable<object>) =>
    audience.bulk(
      items,
      (item, request) => audience.v1.customers.upsert({ email, ...item }, request),
      options,
    );
  await night(
    (async function* () {
      await audience.v1.customers.upsert({ email, email_opt_in: "SUBSCRIBED" });
      yield { first_name: "Ada" };
    })(),
  );

  const second = await night(
    (async function* () {
      yield { email_opt_in: "UNSUBSCRIBED" };
    })(),
  );

  expect(second).toMatchObject({ succeeded: 1 });
  expect(mock.organization("mock-organization").contacts).toMatchObject([{ email_opt_in: "UNSUBSCRIBED" }]);
});

it("a new consent that was not reached on the night of an opt-out is superseded, after nights that reached it", async () => {
  const { audience, mock } = createFixture();
  const { v1 } = audience.withOptions({ maxRetries: 0 });
  const options = { checkpoint: new LoggedCheckpoint(), key };
  const night = (item: Row) =>
    audience.bulk(
      [item],
      async (contact, request) => {
        await v1.events.send({ eventName: "imported", contact: { email: contact.email } }, request);
        return await v1.contactGroups.addContact("mock-list", contact, request);
      },
      options,
    );
  const optedOut: Row = { ...row(0), email_opt_in: "UNSUBSCRIBED" };
  const statuses: string[] = [];
  mock.addFault({ kind: "truncated-json", operation: "v1.contactGroups.addContact", times: 1 });
  for await (const { status } of night(optedOut)) statuses.push(status);
  mock.addFault({ kind: "500-before", operation: "v1.events.send", times: 1 });
  for await (const { status } of night(row(0))) {
    statuses.push(status);
    await v1.customers.upsert(optedOut);
  }

  const third = await night(row(0));

  expect(statuses).toEqual(["unknown", "unknown"]);
  expect(third).toMatchObject({ superseded: 1 });
  expect(mock.organization("mock-organization").contacts).toMatchObject([{ email_opt_in: "UNSUBSCRIBED" }]);
});
