// "run": an earlier row of the run about the same contact, sent or skipped, that refuses. More of it: `nights.test.ts`.
import { type Write, write } from "audience-sdk";
import { expect, it } from "vitest";
import { collectRun, createFixture, v2Contact } from "./fixture.ts";
import { addresses, contact, endOf, peopleOf } from "./people.ts";

const { v1, v2 } = write;
const { email, phone } = addresses["ada"]!;
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

const off = "UNSUBSCRIBED";
const addToList = v1.contactGroups.addContact("mock-list", { email }, { consent: "service-decides" });

/** Ada is subscribed by both channels. */
it.each<[string, rows: (Write | Write[])[], ends: string[], ada: string]>([
  [
    "of a number that it does not name",
    [v1.customers.upsert({ email, phone_opt_in: off }), v1.customers.upsert(contact("++"))],
    ["succeeded", "succeeded phone:run"],
    "+-",
  ],
  [
    "of an address that it does not name",
    [v1.customers.upsert({ phone, email_opt_in: off }), v1.customers.upsert(contact("++"))],
    ["succeeded", "succeeded email:run"],
    "-+",
  ],
  [
    "of a number that its answer shows",
    [v1.customers.upsert({ email, phone_opt_in: off }), v1.customers.upsert(contact(".+"))],
    ["succeeded", "succeeded phone:run"],
    "+-",
  ],
  [
    "that suppresses a contact whose number its answer shows",
    [v1.customers.upsert({ email, is_suppressed: true }), v1.customers.upsert(contact(".+x"))],
    ["succeeded", "succeeded is_suppressed:run"],
    "++s",
  ],
  ["as a write before it in the same row", [[refusal, addToList]], ["succeeded email:run"], "-+"],
  [
    "as a write of the other family before it in the same row",
    [[v2.contacts.upsert(v2Contact(email, "unsubscribed")), v1.customers.upsert(contact("+"))]],
    ["succeeded email:run"],
    "-+",
  ],
  [
    "as a suppression before it in the same row",
    [
      [
        v1.customers.upsert({ ...contact("+"), is_suppressed: true }),
        v2.contacts.upsert(v2Contact(email, "subscribed")),
      ],
    ],
    ["superseded:run"],
    "++s",
  ],
])("A refusal stands %s", async (_, writes, ends, ada) => {
  const { audience, mock } = createFixture();
  await audience.v1.customers.upsert(contact("++"));

  const { results } = await collectRun(audience.bulk(writes.values(), (each) => each, { concurrency: 1 }));

  expect(results.map(endOf)).toEqual(ends);
  expect(peopleOf(mock)).toBe(`ada:${ada}`);
  expect(mock.resubscriptions).toEqual([]);
});
