import { type } from "arktype";
import {
  AudienceClient,
  type Profile,
  type V1Contact,
  type V1Customers,
  type V1Event,
  type V2Contact,
  write,
} from "audience-sdk";
import {
  type ProfileAttributes,
  type V1ListContact,
  type V2Identifier,
  v1ContactSchema,
} from "audience-sdk/schemas";
import type * as schemas from "audience-sdk/schemas";
import * as v from "valibot";
import { describe, expectTypeOf, it, vi } from "vitest";
import * as z from "zod";

const audience = new AudienceClient();
const { customers, contactGroups, events } = audience.v1;
const email = "ada@example.com";

it("addContact takes a contact with its e-mail and its consent, or leaves the consent to the service", () => {
  // @ts-expect-error the service would subscribe an existing contact
  void contactGroups.addContact("l-1", { email });
  // @ts-expect-error options without the consent option do not change that
  void contactGroups.addContact("l-1", { email }, { maxRetries: 0 });
  // @ts-expect-error undefined is no consent
  void contactGroups.addContact("l-1", { email, email_opt_in: undefined });
  void contactGroups.addContact("l-1", { email }, { consent: "service-decides" });
  // @ts-expect-error a misspelt value would subscribe people
  void contactGroups.addContact("l-1", { email }, { consent: "service-decide" });
  // @ts-expect-error
  void contactGroups.addContact("l-1", { email }, { consent: true });
  // @ts-expect-error a phone alone is not enough on this endpoint
  void contactGroups.addContact("l-1", { phone: "+15550100", email_opt_in: "SUBSCRIBED" });
  // @ts-expect-error it is not wrapped
  void contactGroups.addContact("l-1", { contact: { email, email_opt_in: "SUBSCRIBED" } });
  // @ts-expect-error it is no array
  void contactGroups.addContact("l-1", [{ email, email_opt_in: "SUBSCRIBED" }]);
});

/** The options that leave the consent to the service. */
type Unconsented = { consent: "service-decides" };

it("Options that may be others than the consent option do not leave the consent to the service", () => {
  const [perhaps, either] = [held<Unconsented | undefined>(), held<Unconsented | { maxRetries: number }>()];
  void contactGroups.addContact("l-1", { email, email_opt_in: "SUBSCRIBED" }, perhaps);
  // @ts-expect-error
  void contactGroups.addContact("l-1", { email }, perhaps);
  // @ts-expect-error
  void contactGroups.addContact("l-1", { email }, either);
  // @ts-expect-error
  void contactGroups.addContact("l-1", { email }, Math.random() < 0.5 ? { consent: "service-decides" } : {});
  // @ts-expect-error
  void write.v1.contactGroups.addContact("l-1", { email }, perhaps);
  // @ts-expect-error
  void write.v1.contactGroups.addContact("l-1", { email }, either);
});

it("A v1 contact has the fields and the words of the service, days as strings, and flat custom properties", () => {
  // @ts-expect-error the name is first_name
  void customers.upsert({ email, firstName: "Ada" });
  // @ts-expect-error custom data goes under custom_properties
  void customers.upsert({ email, favourite_colour: "green" });
  void customers.upsert({ email, dob: "1815-12-10" });
  // @ts-expect-error a Date has a time zone
  void customers.upsert({ email, dob: new Date("1815-12-10") });
  // @ts-expect-error case counts
  void customers.upsert({ email, email_opt_in: "subscribed" });
  // @ts-expect-error
  void customers.upsert({ email, phone_opt_in: "OPTED_IN" });
  // @ts-expect-error case counts
  void customers.upsert({ email, gender: "female" });
  void customers.upsert({ email, custom_properties: { plan: "pro", seats: 3, trial: false } });
  // @ts-expect-error the service would store an unusable string
  void customers.upsert({ email, custom_properties: { address: { city: "London" } } });
  // @ts-expect-error
  void customers.upsert({ email, custom_properties: { plan: null } });
});

it("An event has only documented fields", () => {
  // @ts-expect-error the name is eventName
  void events.send({ event_name: "order placed", contact: { email } });
  // @ts-expect-error
  void events.send({ eventName: "order placed", contact: { email }, occurredAt: "2026-01-31T09:30:00Z" });
});

describe("An event that is defined", () => {
  const schema = z.object({ total: z.number(), at: z.string().transform((text) => new Date(text)) });
  const defined = events.define({
    order_placed: schema,
    order_paid: v.object({ total: v.number() }),
    order_sent: type({ total: "number" }),
    note_left: z.object({ text: z.string() }).optional(),
    signed_up: null,
  });
  const contact = { email };

  it("has the eventData that its schema takes, of any library, and none where null is its schema", () => {
    void defined.send("order_placed", { contact, eventData: { total: 42, at: "2026-01-31" } });
    void defined.send("order_paid", { contactUUID: "c-1", eventData: { total: 42 } }, { maxRetries: 0 });
    void defined.send("order_sent", { contact, eventData: { total: 42 }, uniqueIdentifier: "o-1" });
    void defined.send("note_left", { contact });
    void defined.send("note_left", { contact, eventData: { text: "x" } });
    // @ts-expect-error
    void defined.send("order_placed", { contact, eventData: { total: "42", at: "2026-01-31" } });
    // @ts-expect-error
    void defined.send("order_paid", { contact, eventData: {} });
    // @ts-expect-error
    void defined.send("order_sent", { contact, eventData: { total: "42" } });
    // @ts-expect-error
    void defined.send("order_sent", { contact });
    void defined.send("signed_up", { contact });
    // @ts-expect-error
    void defined.send("signed_up", { contact, eventData: {} });
  });

  it("has a name that is defined, and names a contact", () => {
    // @ts-expect-error
    void defined.send("order", { contact });
    // @ts-expect-error it is the first argument
    void defined.send("signed_up", { eventName: "signed_up", contact });
    // @ts-expect-error
    void defined.send("signed_up", {});
    const held: { contact: { email?: string; plan: string } } = { contact: { email, plan: "pro" } };
    void defined.send("signed_up", held);
  });

  it("has a schema of objects, or null", () => {
    // @ts-expect-error
    events.define({ order_placed: z.string() });
    // @ts-expect-error
    events.define({ order_placed: {} });
    // @ts-expect-error
    events.define({ order_placed: undefined });
  });
});

describe("A call's result", () => {
  it("has consents that are compared with the documented words alone, and can be written", async () => {
    const { attributes } = await customers.get("c-1");
    // @ts-expect-error v1 writes it in capitals
    void (attributes.email_opt_in === "unsubscribed");
    // @ts-expect-error
    void (attributes.phone_opt_in === "OPTED_OUT");
    void (attributes.email_opt_in === "UNSUBSCRIBED");
    void customers.upsert({ email, email_opt_in: attributes.email_opt_in ?? "NON_SUBSCRIBED" });
    void contactGroups.addContact("l-1", { email, email_opt_in: attributes.email_opt_in ?? "UNSUBSCRIBED" });
  });

  it("has no other field than the documented ones, so that a misspelt one does not compile", async () => {
    const profile = await customers.get("c-1");
    // @ts-expect-error it is an attribute
    void profile.email_opt_in;
    // @ts-expect-error the name is email_opt_in
    void profile.attributes.emailOptIn;
    // @ts-expect-error
    void profile.links?.next;
    // @ts-expect-error
    void profile.relationships?.tags;
    // @ts-expect-error
    void (await customers.get("c-1").withResponse()).data.email;
    // @ts-expect-error
    for await (const { phone } of customers.list()) void phone;
    const added = await contactGroups.addContact("l-1", { email, email_opt_in: "SUBSCRIBED" });
    // @ts-expect-error the name is contactUUID
    void added.contact.id;
    // @ts-expect-error it lies in contact
    void added.contactUUID;
    // @ts-expect-error
    void (await events.send({ eventName: "x", contact: { email } })).id;
  });

  it("has no single response for a list", () => {
    expectTypeOf(customers.list()).not.toHaveProperty("withResponse");
    // @ts-expect-error it is awaited, or iterated with `for await`
    for (const profile of customers.list()) void profile;
    // @ts-expect-error
    void customers.list().items;
  });
});

declare const contact: V1Contact;
declare const event: V1Event;

/** A value of which the compiler knows only the type. */
declare function held<T>(): T;

it("A contact that can have neither an e-mail nor a phone is not accepted", () => {
  // @ts-expect-error
  void customers.upsert({ first_name: "Ada" });
  // @ts-expect-error
  void customers.upsert({});
  const { email: _, phone: __, ...nameless } = contact;
  // @ts-expect-error
  void customers.upsert(nameless);
});

describe("A contact that has one, or may have one", () => {
  it("is accepted as it is: complete, partial, read-only, with further keys, or a row of a foreign type", () => {
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
    void customers.upsert(held<{ email?: string; phone?: string; first_name?: string }>());
    void customers.upsert(held<{ email: string | undefined; phone: string | undefined }>());
    void customers.upsert(held<{ email: string; first_name: string } | { phone: string }>());
    void customers.upsert(Math.random() < 0.5 ? { email: "ada@example.com" } : { phone: "+15550100" });
    interface Person extends V1Contact {
      email: string;
    }
    void customers.upsert(held<Person>());
  });

  it("is accepted in generic code, and by a test double", () => {
    const ofAnyKind = <T extends V1Contact>(one: T) => customers.upsert(one);
    void ofAnyKind({ email: "ada@example.com" });
    const withEmail = <T extends { email: string }>(one: T) => customers.upsert(one);
    void withEmail({ email: "ada@example.com" });
    const send: (one: V1Contact) => Promise<Profile> = customers.upsert.bind(customers);
    void send(contact);
    const [first]: Parameters<V1Customers["upsert"]> = [{ email: "ada@example.com" }];
    void first;
    void audience.bulk([contact], (row) => write.v1.customers.upsert(row));
    vi.spyOn(customers, "upsert").mockImplementation((one) => customers.get(one.email ?? ""));
    const placeholder: Pick<V1Customers, "upsert"> = {
      upsert: (one: V1Contact) => customers.get(one.email ?? ""),
    };
    void placeholder;
  });
});

it("An event that names a contact, or may name one, is accepted as it is", () => {
  void events.send(event);
  void events.send({ ...event, uniqueIdentifier: "order-1001" });
  void events.send(held<V1Event & { uniqueIdentifier: string }>());
  void events.send(held<{ eventName: string; contact?: { email: string } }>());
  const ofAnyKind = <T extends V1Event>(one: T) => events.send(one);
  void ofAnyKind({ eventName: "order_placed", contactUUID: "c-1" });
  void audience.bulk([event], (row) => write.v1.events.send(row));
});

const { v2 } = audience;
const consent = { createdAt: "2026-01-31T09:30:00Z", ip: "192.0.2.1", source: "form" };
const identifier = {
  type: "email" as const,
  id: email,
  channels: { email: { status: "subscribed" } },
  consent,
};
const v2Contact: V2Contact = { firstName: "Ada", listIds: [], identifiers: [identifier] };

it("A v2 contact has days as strings, whole consents, and channels with any status", () => {
  const { ip: _, ...withoutIp } = consent;
  const [lateConsent, channels] = [{ ...consent, createdAt: new Date(0) }, { email: { status: "pending" } }];
  void v2.contacts.upsert({ ...v2Contact, createdAt: new Date(0), birthDate: "1815-12-10" });
  void v2.contacts.upsert({ ...v2Contact, identifiers: [{ ...identifier, consent: lateConsent, channels }] });
  // @ts-expect-error a Date has a time zone
  void v2.contacts.upsert({ ...v2Contact, birthDate: new Date("1815-12-10") });
  // @ts-expect-error
  void v2.contacts.upsert({ ...v2Contact, identifiers: [{ ...identifier, consent: withoutIp }] });
  // @ts-expect-error a channel is an object with a status
  void v2.contacts.upsert({ ...v2Contact, identifiers: [{ ...identifier, channels: { email: "on" } }] });
});

it("Input and output types are equal, because there are no transforms", () => {
  expectTypeOf<z.input<typeof schemas.v1ContactSchema>>().toEqualTypeOf<V1Contact>();
  expectTypeOf<z.input<typeof schemas.v1ListContactSchema>>().toEqualTypeOf<V1ListContact>();
  expectTypeOf<z.input<typeof schemas.v1EventSchema>>().toEqualTypeOf<V1Event>();
  expectTypeOf<z.input<typeof schemas.v2ContactSchema>>().toEqualTypeOf<V2Contact>();
  expectTypeOf<z.input<typeof schemas.v2IdentifierSchema>>().toEqualTypeOf<V2Identifier>();
});

it("The attributes of a profile have every field of a v1 contact", () => {
  expectTypeOf<keyof ProfileAttributes>().toEqualTypeOf<keyof V1Contact | "created" | "updated">();
});
