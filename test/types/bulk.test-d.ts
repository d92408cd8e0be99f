import {
  AudienceClient,
  type AbortError,
  type AddContactResult,
  type BulkSummary,
  type EventResult,
  type Profile,
  type SupersededReason,
  type V2UpsertResult,
  type ValidationError,
  type Write,
  write,
} from "audience-sdk";
import { describe, expectTypeOf, it } from "vitest";

const audience = new AudienceClient();
const rows = [{ email: "ada@example.com", email_opt_in: "SUBSCRIBED" as const }];
type Row = (typeof rows)[number];
const { v1, v2 } = write;
const upsert = (row: Row) => v1.customers.upsert(row);
const event = ({ email }: Row) => v1.events.send({ eventName: "e", contact: { email } });

it("The rows of bulk are any iterable but a string, or a function that gives one", () => {
  void audience.bulk(rows, upsert);
  void audience.bulk(new Set(rows), upsert);
  void audience.bulk(rows.values(), upsert);
  void audience.bulk(
    rows.map(async (row) => row),
    upsert,
  );
  void audience.bulk(new Map([["ada", rows[0]!]]).values(), upsert);
  async function* generated() {
    yield* rows;
  }
  void audience.bulk(generated(), upsert);
  void audience.bulk(generated, upsert);
  void audience.bulk(() => rows, upsert);
  // @ts-expect-error
  void audience.bulk("ada@example.com", (email: string) => v1.customers.upsert({ email }));
});

describe("The function of bulk", () => {
  it("that gives no write is refused, and so is the promise of a call", () => {
    // @ts-expect-error a forgotten `return`
    void audience.bulk(rows, (row) => {
      upsert(row);
    });
    // @ts-expect-error
    void audience.bulk(rows, async (row) => {
      upsert(row);
    });
    // @ts-expect-error
    void audience.bulk(rows, () => null);
    // @ts-expect-error
    void audience.bulk(rows, (row) => (row.email === "" ? undefined : upsert(row)));
    // @ts-expect-error
    void audience.bulk(rows, (row) => row);
    // @ts-expect-error
    void audience.bulk(rows, (row) => audience.v1.customers.upsert(row));
    // @ts-expect-error
    void audience.bulk.check(rows, (row) => audience.v1.customers.upsert(row));
  });

  it("gives any write, several, none for some rows, or a promise of them", () => {
    void audience.bulk(rows, (row, index) => v1.contactGroups.addContact(`list-${index}`, row));
    void audience.bulk(rows, (row) => (row.email === "" ? [] : upsert(row)));
    void audience.bulk(rows, (row): Write[] => [upsert(row), event(row)]);
    void audience.bulk(rows, async (row) => [upsert(row), event(row)]);
    void audience.bulk(rows, (body) => v1.request({ method: "POST", path: "/api/v1/x", body: { ...body } }));
    void audience.bulk(rows, () => JSON.parse("") as Write);
    void audience.bulk.check(rows, (row) => [upsert(row)], { key: ({ email }) => email });
  });

  it("says the value of its row: of an array a tuple, or an array", async () => {
    for await (const { value } of audience.bulk(rows, upsert))
      expectTypeOf(value).toEqualTypeOf<Profile | undefined>();
    for await (const { value } of audience.bulk(rows, async (row) => upsert(row)))
      expectTypeOf(value).toEqualTypeOf<Profile | undefined>();
    const either = audience.bulk(rows, (row) =>
      row.email.endsWith("@example.com") ? v1.contactGroups.addContact("list", row) : upsert(row),
    );
    for await (const { value } of either)
      expectTypeOf(value).toEqualTypeOf<AddContactResult | Profile | undefined>();
    for await (const { status, value } of audience.bulk(rows, (row) => [upsert(row), event(row)]))
      if (status === "succeeded") expectTypeOf(value).toEqualTypeOf<[Profile, EventResult]>();
    const two = audience.bulk(
      rows,
      async (row): Promise<[ReturnType<typeof upsert>, ReturnType<typeof event>]> => [
        upsert(row),
        event(row),
      ],
    );
    for await (const { status, value } of two)
      if (status === "succeeded") expectTypeOf(value).toEqualTypeOf<[Profile, EventResult]>();
    const many = audience.bulk(rows, (row) => [row].map(upsert));
    for await (const { status, value } of many)
      if (status === "succeeded") expectTypeOf(value).toEqualTypeOf<Profile[]>();
    const contact = { firstName: "Ada", listIds: [], identifiers: [] };
    for await (const { status, value } of audience.bulk(rows, () => v2.contacts.upsert(contact)))
      if (status === "succeeded") expectTypeOf(value).toEqualTypeOf<V2UpsertResult>();
  });
});

it("The members of a result may be destructured, each of them: its status says which it has", async () => {
  for await (const result of audience.bulk(rows, upsert)) {
    const { index, key, item, status, value, kept, error, reason, service, formerId } = result;
    expectTypeOf({ index, key, item }).toEqualTypeOf<{ index: number; key: string; item: Row }>();
    expectTypeOf(value).toEqualTypeOf<Profile | undefined>();
    expectTypeOf(kept?.email).toEqualTypeOf<"run" | "process" | "service" | undefined>();
    expectTypeOf(formerId).toEqualTypeOf<string | undefined>();
    expectTypeOf(service).toEqualTypeOf<Profile | undefined>();
    if (status === "succeeded") expectTypeOf(value).toEqualTypeOf<Profile>();
    if (status === "invalid") expectTypeOf(error).toEqualTypeOf<ValidationError>();
    if (status === "skipped") expectTypeOf(error).toEqualTypeOf<undefined>();
    if (status === "superseded") {
      expectTypeOf(error).toEqualTypeOf<AbortError>();
      expectTypeOf(reason).toEqualTypeOf<SupersededReason>();
    }
  }
});

it("A run of bulk is awaited for the summary, which `counts` has at any time", async () => {
  const run = audience.bulk(rows, upsert);
  expectTypeOf(run.counts).toEqualTypeOf<BulkSummary>();
  expectTypeOf(await run).toEqualTypeOf<BulkSummary>();
});
