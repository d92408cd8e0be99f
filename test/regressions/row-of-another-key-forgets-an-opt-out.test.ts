import { expect, it } from "vitest";
import { createFixture, LoggedCheckpoint } from "../bulk/fixture.ts";

interface Item {
  readonly id: string;
  readonly contact: { readonly email_opt_in?: "SUBSCRIBED"; readonly first_name: string };
}

it("a new row of the contact that states no consent does not make an opt-out forgotten", async () => {
  const { audience, mock } = createFixture();
  const email = "ada@example.com";
  const options = { checkpoint: new LoggedCheckpoint(), key: ({ id }: Item) => id, concurrency: 1 };
  const night = (items: readonly Item[]) =>
    audience.bulk(
      items,
      ({ contact }, request) => audience.v1.customers.upsert({ email, ...contact }, request),
      options,
    );
  const member = (first_name: string): Item => ({
    id: "member",
    contact: { email_opt_in: "SUBSCRIBED", first_name },
  });
  for await (const _ of night([member("Ada")]))
    await audience.v1.customers.upsert({ email, email_opt_in: "UNSUBSCRIBED" });

  const profile = (first_name: string): Item => ({ id: "profile", contact: { first_name } });

  const nights = [await night([profile("Ada L."), member("Ada L.")]), await night([profile("A. L.")])];

  expect(nights).toMatchObject([{ succeeded: 1, superseded: 1 }, { succeeded: 1 }]);
  expect(mock.organization("mock-organization").contacts).toMatchObject([{ email_opt_in: "UNSUBSCRIBED" }]);
});
