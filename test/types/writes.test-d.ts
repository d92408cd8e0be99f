import {
  AudienceClient,
  write,
  type AbortError,
  type AddContactResult,
  type AddContactWrite,
  type ApiPromise,
  type BulkResult,
  type BulkStatus,
  type EventResult,
  type EventWrite,
  type LaterWrites,
  type Profile,
  type SupersededReason,
  type UnconsentedAddContactWrite,
  type V2UpsertResult,
  type ValidationError,
  type Write,
  type WriteValue,
} from "audience-sdk";
import { describe, expectTypeOf, it } from "vitest";
import * as z from "zod";

const audience = new AudienceClient();
const email = "ada@example.com";
const contact = { email, email_opt_in: "SUBSCRIBED" } as const;
const request = { method: "POST", path: "/api/v1/a" } as const;
declare const job: Write;

describe("audience.send", () => {
  it("resolves to the value of the write's call", () => {
    const { v1, v2 } = write;
    expectTypeOf(audience.send(v1.customers.upsert(contact))).toEqualTypeOf<ApiPromise<Profile>>();
    expectTypeOf(audience.send(v1.contactGroups.addContact("l", contact))).toEqualTypeOf<
      ApiPromise<AddContactResult>
    >();
    expectTypeOf(audience.send(v1.events.send({ eventName: "a", contact: { email } }))).toEqualTypeOf<
      ApiPromise<EventResult>
    >();
    expectTypeOf(
      audience.send(v2.contacts.upsert({ firstName: "Ada", listIds: [], identifiers: [] })),
    ).toEqualTypeOf<ApiPromise<V2UpsertResult>>();
    expectTypeOf(audience.send(v1.request(request))).toEqualTypeOf<ApiPromise<unknown>>();
  });

  it("accepts literals, and any write of a queue, but no consent beside it", () => {
    expectTypeOf(audience.send(job)).toEqualTypeOf<ApiPromise<unknown>>();
    expectTypeOf(
      audience.send({ operation: "v1.customers.upsert", contact }, { priority: 9, maxWaitMs: 1_000 }),
    ).resolves.toEqualTypeOf<Profile>();
    const [operation, options] = ["v1.contactGroups.addContact", { consent: "service-decides" }] as const;
    void audience.send({ operation, listId: "l", contact });
    void audience.send({ operation, listId: "l", contact: { email }, options });
    // @ts-expect-error it is part of what is written
    void audience.send(job, { consent: "service-decides" });
  });
});

it("WriteValue is the value of one write, of an array, and of a tuple", () => {
  const one = write.v1.customers.upsert(contact);
  const two = [one, write.v1.events.send({ eventName: "a", contact: { email } })] as const;
  expectTypeOf<WriteValue<typeof one>>().toEqualTypeOf<Profile>();
  expectTypeOf<WriteValue<(typeof one)[]>>().toEqualTypeOf<Profile[]>();
  expectTypeOf<WriteValue<typeof two>>().toEqualTypeOf<[Profile, EventResult]>();
});

describe("write", () => {
  it("takes the arguments of the calls, but not the options of who sends", () => {
    const { addContact } = write.v1.contactGroups;
    expectTypeOf(addContact("l", contact, { timeoutMs: 1 })).toEqualTypeOf<AddContactWrite>();
    expectTypeOf(
      addContact("l", { email }, { consent: "service-decides" }),
    ).toEqualTypeOf<UnconsentedAddContactWrite>();
    void write.v1.request(request, { repeatable: true, consent: "service-decides", headers: { a: "b" } });
    // @ts-expect-error a queue cannot hold it
    void write.v1.customers.upsert(contact, { signal: AbortSignal.abort() });
    // @ts-expect-error JSON loses what it holds
    void write.v1.customers.upsert(contact, { headers: new Headers() });
    // @ts-expect-error there is no consent to leave out
    void write.v1.customers.upsert(contact, { consent: "service-decides" });
    // @ts-expect-error reads are no writes
    void write.v1.customers.get;
  });

  it("types the events that are defined", () => {
    const events = audience.v1.events.define({ order_placed: z.object({ total: z.number() }) });
    const event = { contact: { email }, eventData: { total: 1 } };
    expectTypeOf(events.write("order_placed", event, { timeoutMs: 1 })).toEqualTypeOf<EventWrite>();
    // @ts-expect-error
    void events.write("order_place", event);
    // @ts-expect-error
    void events.write("order_placed", { contact: { email } });
  });
});

const rows = [{ email: "ada@example.com", email_opt_in: "SUBSCRIBED" as const }];
type Row = (typeof rows)[number];
const { v1, v2 } = write;
const upsert = (row: Row) => v1.customers.upsert(row);
const event = (row: Row) => v1.events.send({ eventName: "e", contact: { email: row.email } });

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
  void audience.bulk("ada@example.com", (letter: string) => v1.customers.upsert({ email: letter }));
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

  it("that returns a call reads in the compiler's error what to return instead", () => {
    expectTypeOf<LaterWrites<Write>["withResponse"]>().toEqualTypeOf<
      "return write.v1… (a value), not a call" | undefined
    >();
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
    const v2Contact = { firstName: "Ada", listIds: [], identifiers: [] };
    for await (const { status, value } of audience.bulk(rows, () => v2.contacts.upsert(v2Contact)))
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

it("Each status has a member of its own, which narrowing by the status finds", () => {
  type Result = BulkResult<Row, Profile>;
  type Found = { [Status in BulkStatus]: Extract<Result, { readonly status: Status }>["status"] };
  expectTypeOf<Found>().toEqualTypeOf<{ [Status in BulkStatus]: Status }>();
  for (const { value } of new Array<Result>().filter((result) => result.status === "failed"))
    expectTypeOf(value).toEqualTypeOf<undefined>();
});
