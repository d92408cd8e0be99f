// "run": an earlier row of the run about the same contact, sent or skipped, that refuses. More of it: `nights.test.ts`.
import { type Write, write } from "audience-sdk";
import { expect, it } from "vitest";
import { collectRun, createFixture, v2Contact } from "./fixture.ts";
import { addresses, contact, endOf } from "./people.ts";

const { v1, v2 } = write;
const { email } = addresses["ada"]!;
const refusal = v1.customers.upsert(contact("-"));

it.each<[string, earlier: Write | Write[]]>([
  ["of the other family", v2.contacts.upsert(v2Contact(email, "unsubscribed"))],
  [
    "that writes the address otherwise",
    v1.customers.upsert({ email: "ADA@Example.com", email_opt_in: "UNSUBSCRIBED" }),
  ],
  ["in its second write", [v1.events.send({ eventName: "left", contact: { email } }), refusal]],
])("A row is held to the refusal of an earlier one %s", async (_, earlier) => {
  const { audience, mock } = createFixture();
  const rows = [earlier, v1.customers.upsert(contact("+"))].values();

  const { results } = await collectRun(audience.bulk(rows, (each) => each));

  expect(results.map(endOf)).toEqual(["succeeded", "succeeded email:run"]);
  expect(mock.resubscriptions).toEqual([]);
});
