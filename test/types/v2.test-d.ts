import { AudienceClient, type List, type V2Contact } from "audience-sdk";
import { describe, expectTypeOf, it } from "vitest";

const { contacts, lists } = new AudienceClient().v2;

const consent = { createdAt: "2026-01-31T09:30:00Z", ip: "192.0.2.1", source: "form" };
const identifier = {
  type: "email" as const,
  id: "ada@example.com",
  channels: { email: { status: "subscribed" } },
  consent,
};
const contact: V2Contact = { firstName: "Ada", listIds: [], identifiers: [identifier] };

describe("A v2 contact", () => {
  it("has a first name, lists and identifiers", () => {
    void contacts.upsert(contact);
    // @ts-expect-error
    void contacts.upsert({ listIds: [], identifiers: [identifier] });
    // @ts-expect-error
    void contacts.upsert({ firstName: "Ada", identifiers: [identifier] });
    // @ts-expect-error
    void contacts.upsert({ firstName: "Ada", listIds: [] });
  });

  it("may have its creation time as a Date, but not its day of birth, because a Date has a time zone", () => {
    void contacts.upsert({ ...contact, createdAt: new Date(0) });
    void contacts.upsert({ ...contact, birthDate: "1815-12-10" });
    // @ts-expect-error
    void contacts.upsert({ ...contact, birthDate: new Date("1815-12-10") });
  });

  it("may have undocumented fields", () => {
    void contacts.upsert({ ...contact, nickname: "The Enchantress" });
  });
});

describe("The result of an upsert", () => {
  it("has only its status; a cast shows what else the service sends", async () => {
    const result = await contacts.upsert(contact);
    expectTypeOf(result.status).toEqualTypeOf<true>();
    // @ts-expect-error
    void result.message;
    expectTypeOf((result as Record<string, unknown>)["message"]).toBeUnknown();
  });
});

describe("An identifier", () => {
  it("is an email or a phone, with a string or a number", () => {
    void contacts.upsert({ ...contact, identifiers: [{ ...identifier, type: "phone", id: 15550100 }] });
    // @ts-expect-error
    void contacts.upsert({ ...contact, identifiers: [{ ...identifier, type: "fax" }] });
  });

  it("has a complete consent", () => {
    void contacts.upsert({
      ...contact,
      identifiers: [{ ...identifier, consent: { ...consent, createdAt: new Date(0) } }],
    });
    const { ip: _, ...withoutIp } = consent;
    // @ts-expect-error
    void contacts.upsert({ ...contact, identifiers: [{ ...identifier, consent: withoutIp }] });
  });

  it("has a channel with any status, because the document does not list all", () => {
    void contacts.upsert({
      ...contact,
      identifiers: [{ ...identifier, channels: { email: { status: "pending" } } }],
    });
    // @ts-expect-error
    void contacts.upsert({ ...contact, identifiers: [{ ...identifier, channels: { email: "subscribed" } }] });
  });
});

describe("A list", () => {
  it("has an id", async () => {
    for await (const list of lists.list({ page: 1 })) expectTypeOf(list).toEqualTypeOf<List>();
    expectTypeOf<List["uuid"]>().toEqualTypeOf<string>();
  });

  it("has no other field than the documented ones; a cast shows what else the service sends", async () => {
    const [list] = await lists.list().toArray({ max: 1 });
    // @ts-expect-error the id is the uuid
    void list?.id;
    expectTypeOf((list as Record<string, unknown>)["members"]).toBeUnknown();
  });

  it("is queried by page and limit only", () => {
    // @ts-expect-error
    void lists.list({ type: "LIST" });
  });
});
