import {
  AudienceClient,
  write,
  type AddContactResult,
  type AddContactWrite,
  type ApiPromise,
  type EventResult,
  type EventWrite,
  type Profile,
  type UnconsentedAddContactWrite,
  type V2UpsertResult,
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

  it("accepts literals, and any write of a queue", () => {
    expectTypeOf(audience.send(job)).toEqualTypeOf<ApiPromise<unknown>>();
    expectTypeOf(
      audience.send({ operation: "v1.customers.upsert", contact }, { priority: 9, maxWaitMs: 1_000 }),
    ).resolves.toEqualTypeOf<Profile>();
    void audience.send({ operation: "v1.contactGroups.addContact", listId: "l", contact });
    void audience.send({
      operation: "v1.contactGroups.addContact",
      listId: "l",
      contact: { email },
      options: { consent: "service-decides" },
    });
  });

  it("narrows a write by its operation", () => {
    if (job.operation === "v1.events.send") expectTypeOf(job).toEqualTypeOf<EventWrite>();
    if (job.operation === "v1.contactGroups.addContact") expectTypeOf(job.listId).toEqualTypeOf<string>();
  });

  it("does not take the consent of the write", () => {
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
