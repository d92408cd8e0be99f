import { RateLimiter, type BulkRequest, type V1ConsentedListContact } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { expect, it } from "vitest";
import { createFixture, LoggedCheckpoint } from "../bulk/fixture.ts";

const email = "ada@example.com";
type Contact = V1ConsentedListContact;

interface Night {
  contact: Omit<Contact, "email">;
  options?: { deadlineMs: number };
  /** What the application writes in this night, after the row. */
  written?: "SUBSCRIBED";
}

/** The ends of one row over several nights of one checkpoint, and the contact's consent after them. */
async function over(nights: readonly Night[], mock: ReturnType<typeof createMockService>) {
  const rateLimiter = new RateLimiter({ windows: [{ limit: 2, intervalMs: 300 }] });
  const { audience } = createFixture({}, { ...mock.clientOptions, rateLimiter });
  const checkpoint = new LoggedCheckpoint();
  const ends: string[] = [];
  for (const { contact, options, written } of nights) {
    if (options) for (let call = 0; call < 3; call++) await audience.v1.contactGroups.get("mock-list");
    const row = { ...contact, email };
    const send = (item: Contact, request: BulkRequest) =>
      audience.v1.contactGroups.addContact("mock-list", item, { ...request, ...options });
    for await (const { status } of audience.bulk([row], send, { key: () => email, checkpoint })) {
      ends.push(status);
      if (written) await audience.v1.customers.upsert({ email, email_opt_in: written });
    }
  }
  return { ends, consent: mock.organization("mock-organization").contacts[0]?.email_opt_in };
}

// Its status of that night was known to the client, and forgotten: the opt-out of the next counted as no newer.
it.each([
  [
    "was refused as in doubt",
    { double_opt_in: true },
    undefined,
    createMockService({
      faults: [{ kind: "500-after", operation: "v1.contactGroups.addContact", times: 1 }],
    }),
    ["unknown", "unknown", "succeeded"],
  ],
  [
    "passed its deadline in the queue",
    {},
    { deadlineMs: 50 },
    createMockService(),
    ["succeeded", "failed", "succeeded"],
  ],
])("A row that %s has stated its consent: an opt-out of the next night is newer", async (...args) => {
  const [, more, options, mock, ends] = args;
  const nights = [
    { contact: { email_opt_in: "NON_SUBSCRIBED", first_name: "1", ...more } },
    {
      contact: { email_opt_in: "NON_SUBSCRIBED", first_name: "2", ...more },
      ...(options && { options }),
      written: "SUBSCRIBED",
    },
    { contact: { email_opt_in: "UNSUBSCRIBED", first_name: "3" } },
  ] as const;

  expect(await over(nights, mock)).toEqual({ ends, consent: "UNSUBSCRIBED" });
});
