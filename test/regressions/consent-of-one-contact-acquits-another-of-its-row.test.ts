import { RateLimiter, type BulkRequest } from "audience-sdk";
import { expect, it } from "vitest";
import { createFixture, LoggedCheckpoint } from "../bulk/fixture.ts";

type Status = "SUBSCRIBED" | "NON_SUBSCRIBED" | "UNSUBSCRIBED";
type Household = Record<string, Status>;

// The row's parallel writes were judged together: the new consent of one counted as a new decision about all.
it("A new person in a row is no decision about another person who has unsubscribed since", async () => {
  const rateLimiter = new RateLimiter({ windows: [{ limit: 1, intervalMs: 50 }] });
  const { audience, mock } = createFixture({}, { rateLimiter });
  const checkpoint = new LoggedCheckpoint();
  const send = (household: Household, request: BulkRequest) =>
    Promise.all(
      Object.entries(household).map(([name, email_opt_in]) =>
        audience.v1.customers.upsert({ email: `${name}@example.com`, email_opt_in }, request),
      ),
    );
  const ends: string[] = [];
  const night = async (household: Household, unsubscribed?: string) => {
    for await (const { status } of audience.bulk([household], send, { key: () => "home", checkpoint })) {
      ends.push(status);
      if (unsubscribed !== undefined)
        await audience.v1.customers.upsert({ email: unsubscribed, email_opt_in: "UNSUBSCRIBED" });
    }
  };

  await night({ ada: "SUBSCRIBED" }, "ada@example.com");
  await night({ ada: "SUBSCRIBED", bob: "NON_SUBSCRIBED" });

  expect(ends).toEqual(["succeeded", "superseded"]);
  const contacts = mock.organization("mock-organization").contacts;
  expect(contacts.find(({ email }) => email === "ada@example.com")?.email_opt_in).toBe("UNSUBSCRIBED");
});
