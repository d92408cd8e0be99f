import { AudienceClient, type AddContactResult, type BulkSummary, type Profile } from "audience-sdk";
import { describe, expectTypeOf, it } from "vitest";

const audience = new AudienceClient();
const rows = [{ email: "ada@example.com", email_opt_in: "SUBSCRIBED" as const }];

it("The rows of bulk are any iterable but a string", () => {
  const { upsert } = audience.v1.customers;
  void audience.bulk(rows, upsert);
  void audience.bulk(new Set(rows), upsert);
  void audience.bulk(rows.values(), upsert);
  void audience.bulk(
    rows.map(async (row) => row),
    upsert,
  );
  void audience.bulk(new Map([["ada", rows[0]!]]).values(), upsert);
  void audience.bulk(
    (async function* () {
      yield* rows;
    })(),
    upsert,
  );
  // @ts-expect-error
  void audience.bulk("ada@example.com", (id: string, o) => audience.v1.customers.get(id, o));
});

describe("The function of bulk", () => {
  it("that returns nothing is refused", () => {
    // @ts-expect-error its call is neither returned nor awaited
    void audience.bulk(rows, (row, request) => {
      void audience.v1.customers.upsert(row, request);
    });
    // @ts-expect-error
    void audience.bulk(rows, () => null);
  });

  it("may return any call of the client, several of them, none for some rows, or await them", () => {
    const { v1, v2 } = audience;
    const contact = { firstName: "Ada", listIds: [], identifiers: [] };
    const path = "/api/v1/customer/create";
    void audience.bulk(rows, (row, o) => v1.customers.upsert(row, o));
    void audience.bulk(rows, (_, o) => v1.customers.get("id", o));
    void audience.bulk(rows, (_, o) => v1.customers.list({}, o));
    void audience.bulk(rows, (_, o) => v1.contactGroups.list({}, o).toArray());
    void audience.bulk(rows, (_, o) => v1.contactGroups.get("id", o));
    void audience.bulk(rows, (row, o) => v1.contactGroups.addContact("id", row, o));
    void audience.bulk(rows, (row, o) => v1.events.send({ eventName: "e", contact: row }, o));
    void audience.bulk(rows, (_, o) => v2.contacts.upsert(contact, o));
    void audience.bulk(rows, (_, o) => v2.lists.list({}, o));
    void audience.bulk(rows, (body, o) => v1.request({ method: "POST", path, body }, o));
    void audience.bulk(rows, (_, o) => v2.request({ method: "GET", path: "/v2/lists" }, o));
    void audience.bulk(rows, (row, o) => v1.customers.upsert(row, o).withResponse());
    void audience.bulk(rows, (row, o) =>
      Promise.all([v1.customers.upsert(row, o), v1.customers.get("id", o)]),
    );
    // Its calls are awaited: the run detects one that is not.
    void audience.bulk(rows, async (row, o) => {
      await v1.customers.upsert(row, o);
    });
    void audience.bulk(rows, async (row, o) => {
      if (row.email === "") return undefined;
      return await v1.customers.upsert(row, o);
    });
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
