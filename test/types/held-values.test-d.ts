import { AudienceClient, type Profile, type V1Contact, type V1Customers, type V1Event } from "audience-sdk";
import { v1ContactSchema } from "audience-sdk/schemas";
import { describe, it, vi } from "vitest";

const audience = new AudienceClient();
const { customers, events } = audience.v1;

declare const contact: V1Contact;
declare const event: V1Event;

/** A value of which the compiler knows only the type. */
declare function held<T>(): T;

describe("A contact that can have neither an e-mail nor a phone", () => {
  it("is not accepted", () => {
    // @ts-expect-error
    void customers.upsert({ first_name: "Ada" });
    // @ts-expect-error
    void customers.upsert({});
    const { email: _, phone: __, ...nameless } = contact;
    // @ts-expect-error
    void customers.upsert(nameless);
  });

  it("is not accepted as the return value of a function", () => {
    // @ts-expect-error
    void [{ first_name: "Ada" }].map((row) => customers.upsert(row));
  });
});

describe("A contact that has one, or may have one", () => {
  it("is accepted as it is: complete, partial, read-only, or with further keys", () => {
    void customers.upsert(contact);
    void customers.upsert(v1ContactSchema.parse(contact));
    void customers.upsert(held<Partial<V1Contact>>());
    void customers.upsert(held<Readonly<V1Contact>>());
    void customers.upsert(held<Omit<V1Contact, "phone">>());
    void customers.upsert(held<V1Contact & { email: string }>());
    void customers.upsert(held<V1Contact & { external_id: string }>());
    void customers.upsert(Object.freeze({ email: "ada@example.com" }));
    void customers.upsert(structuredClone(contact));
    const row = { email: "ada@example.com", line: 7 };
    void customers.upsert(row);
  });

  it("is accepted as a spread, without a field, or with a conditional field", () => {
    const city = "London" as string | undefined;
    void customers.upsert({ ...contact, first_name: "Ada" });
    void customers.upsert({ ...contact, phone: undefined });
    void customers.upsert({ email: "ada@example.com", ...(city !== undefined && { city }) });
  });

  it("is accepted as a row of a foreign type", () => {
    void customers.upsert(held<{ email?: string; phone?: string; first_name?: string }>());
    void customers.upsert(held<{ email: string | undefined; phone: string | undefined }>());
    void customers.upsert(held<{ email: string; first_name: string } | { phone: string }>());
    void customers.upsert(Math.random() < 0.5 ? { email: "ada@example.com" } : { phone: "+15550100" });
    interface Person extends V1Contact {
      email: string;
    }
    void customers.upsert(held<Person>());
  });

  it("is accepted in generic code", () => {
    const ofAnyKind = <T extends V1Contact>(one: T) => customers.upsert(one);
    void ofAnyKind({ email: "ada@example.com" });
    const withEmail = <T extends { email: string }>(one: T) => customers.upsert(one);
    void withEmail({ email: "ada@example.com" });
    const send: (one: V1Contact) => Promise<Profile> = customers.upsert.bind(customers);
    void send(contact);
    const [first]: Parameters<V1Customers["upsert"]> = [{ email: "ada@example.com" }];
    void first;
    void audience.bulk([contact], (row, request) => customers.upsert(row, request));
  });

  it("is accepted by a test double", () => {
    vi.spyOn(customers, "upsert").mockImplementation((one) => customers.get(one.email ?? ""));
    const placeholder: Pick<V1Customers, "upsert"> = {
      upsert: (one: V1Contact) => customers.get(one.email ?? ""),
    };
    void placeholder;
  });
});

describe("An event that can name no contact", () => {
  it("is not accepted", () => {
    // @ts-expect-error
    void events.send({ eventName: "order_placed" });
    // @ts-expect-error a contact of an event is named by its email or its contactUUID
    void events.send({ eventName: "order_placed", email: "ada@example.com" });
  });
});

describe("An event that names a contact, or may name one", () => {
  it("is accepted as it is", () => {
    void events.send(event);
    void events.send({ ...event, uniqueIdentifier: "order-1001" });
    void events.send(held<V1Event & { uniqueIdentifier: string }>());
    void events.send(held<{ eventName: string; contact?: { email: string } }>());
    const ofAnyKind = <T extends V1Event>(one: T) => events.send(one);
    void ofAnyKind({ eventName: "order_placed", contactUUID: "c-1" });
    void audience.bulk([event], (row, request) => events.send(row, request));
  });
});
