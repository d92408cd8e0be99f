import { AudienceClient, type AddContactResult, type BulkSummary, type Profile } from "audience-sdk";
import { describe, expectTypeOf, it } from "vitest";

const audience = new AudienceClient();
const rows = [{ email: "ada@example.com", email_opt_in: "SUBSCRIBED" as const }];

describe("The function of bulk", () => {
  it("that returns nothing is refused", () => {
    // @ts-expect-error its call is neither returned nor awaited
    void audience.bulk(rows, (row, request) => {
      void audience.v1.customers.upsert(row, request);
    });
    // @ts-expect-error
    void audience.bulk(rows, () => null);
  });

  it("returns the value of its row, for any of its calls", async () => {
    const one = audience.bulk(rows, (row, request) => audience.v1.customers.upsert(row, request));
    for await (const { value } of one) expectTypeOf(value).toEqualTypeOf<Profile | undefined>();
    const either = audience.bulk(rows, (row, request) =>
      row.email.endsWith("@example.com")
        ? audience.v1.contactGroups.addContact("list", row, request)
        : audience.v1.customers.upsert(row, request),
    );
    for await (const { value } of either)
      expectTypeOf(value).toEqualTypeOf<AddContactResult | Profile | undefined>();
  });
});

describe("A run of bulk", () => {
  it("is awaited for the summary", async () => {
    expectTypeOf(await audience.bulk(rows, async () => 1)).toEqualTypeOf<BulkSummary>();
  });
});
