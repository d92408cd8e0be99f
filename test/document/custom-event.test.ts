import { describe, expect, it } from "vitest";
import {
  casesOf,
  characters,
  expectNotSent,
  expectRefusedByService,
  type FieldRow,
  untyped,
  useService,
} from "./service.ts";

const EVENTS = "/api/v1/events";

const filledText = {
  rule: "a text that is not empty",
  allowed: ["x", "order placed", characters(1_000)],
  forbidden: ["", 7, true, {}, null],
};

/** The table "Custom event", row by row, completed by the client's guide. */
const rows: readonly FieldRow[] = [
  { field: "eventName", ...filledText },
  { field: "uniqueIdentifier", ...filledText },
  {
    field: "contact",
    rule: "an object with the contact's email",
    allowed: [{ email: "ada@example.com" }, { email: "ada@example.com", first_name: "Ada", tags: ["vip"] }],
    forbidden: ["ada@example.com", ["ada@example.com"], {}, { phone: "+390111111" }, 7, null],
  },
  {
    field: "eventData",
    rule: "free key–value data",
    allowed: [
      {},
      { total: 9.5, currency: "EUR", isPresent: false },
      { items: [{ sku: "a", tags: [] }] },
      { "": "", constructor: 1 },
    ],
    forbidden: ["total=9.5", [], 7, null],
  },
];

describe("a custom event", () => {
  const service = useService();
  const base = { eventName: "page seen", uniqueIdentifier: "seen-1", contact: { email: "ada@example.com" } };
  const send = (event: unknown) => service.audience.v1.events.send(untyped(event));

  it.each(casesOf(rows, "allowed"))("%s is %s: %s is recorded", async (field, _rule, _shown, value) => {
    const event = { ...base, [field]: value };
    await send(event);

    expect(service.mock.requests[0]?.body).toEqual(event);
    expect(service.state().events).toMatchObject([{ contactId: "ada", ...event }]);
  });

  it.each(casesOf(rows, "forbidden"))(
    "%s is %s: %s is not sent, and refused by the service",
    async (field, _rule, _shown, value) => {
      const event = { ...base, [field]: value };
      await expectNotSent(service, send(event), field);
      await expectRefusedByService(service, EVENTS, event);
    },
  );

  it.each([
    ["eventName", { ...base, eventName: undefined }],
    ["contact", { ...base, contact: undefined }],
  ])("%s is required: without it nothing is sent, and the service refuses", async (path, event) => {
    await expectNotSent(service, send(event), path);
    await expectRefusedByService(service, EVENTS, event);
  });

  it("eventData is optional", async () => {
    await send(base);

    expect(service.state().events[0]).not.toHaveProperty("eventData");
  });

  it("uniqueIdentifier is optional: the client generates and returns one", async () => {
    const { uniqueIdentifier } = await send({ ...base, uniqueIdentifier: undefined });

    expect(uniqueIdentifier).toMatch(/\S{16,}/);
    expect(service.state().events).toMatchObject([{ uniqueIdentifier }]);
  });

  it("two events without uniqueIdentifier are two events", async () => {
    await send({ ...base, uniqueIdentifier: undefined });
    await send({ ...base, uniqueIdentifier: undefined });

    expect(new Set(service.state().events.map(({ uniqueIdentifier }) => uniqueIdentifier)).size).toBe(2);
  });

  it("its contact is created if it does not exist, and is not subscribed", async () => {
    await send({ ...base, contact: { email: "new@example.com" } });

    const created = service.contact("new@example.com");
    expect(created).toMatchObject({ email_opt_in: "NON_SUBSCRIBED" });
    expect(service.state().events).toMatchObject([{ contactId: created?.id }]);
  });

  it("the contact of an event may have further keys, which do not change the stored contact", async () => {
    await send({ ...base, contact: { email: "ada@example.com", first_name: "Augusta" } });

    expect(service.contact("ada@example.com")?.first_name).toBe("Ada");
  });

  it.each<[string, object]>([
    ["in its contact", { contact: { contactUUID: "grace" } }],
    ["at its root", { contact: undefined, contactUUID: "grace" }],
    ["in its contact, beside the e-mail", { contact: { email: "grace@example.com", contactUUID: "grace" } }],
    ["at its root, beside the contact", { contact: { email: "grace@example.com" }, contactUUID: "grace" }],
  ])("a contactUUID %s names the contact", async (_, naming) => {
    await send({ ...base, ...naming });

    expect(service.state().events).toMatchObject([{ contactId: "grace" }]);
  });

  it.each<[string, object]>([
    ["contact.contactUUID", { contact: { contactUUID: "" } }],
    ["contact.contactUUID", { contact: { contactUUID: 7 } }],
    ["contact.email", { contact: { email: "ada" } }],
    ["contact.email", { contact: { email: null } }],
    ["contact.name", { contact: { email: "ada@example.com", name: null } }],
    ["contactUUID", { contactUUID: "" }],
    ["contactUUID", { contactUUID: null }],
    ["eventData.items.0.sku", { eventData: { items: [{ sku: null }] } }],
    ["event_name", { event_name: "x" }],
    ["data", { data: {} }],
  ])("an invalid %s is not sent, and refused by the service: %j", async (path, more) => {
    await expectNotSent(service, send({ ...base, ...more }), path);
    await expectRefusedByService(service, EVENTS, { ...base, ...more });
  });

  it.each([
    ["email", { Email: "ada@example.com" }],
    ["contactUUID", { contactUuid: "ada" }],
  ])("the message for a key in the wrong case names the right key, %s", async (name, contact) => {
    const error = await expectNotSent(service, send({ ...base, contact }), "contact");

    expect(error.message).toContain(`"${name}"`);
  });

  it("a Date in its data is sent as ISO 8601", async () => {
    await send({ ...base, eventData: { at: new Date(0) } });

    expect(service.state().events).toMatchObject([{ eventData: { at: "1970-01-01T00:00:00.000Z" } }]);
  });

  it.each([Number.NaN, 10n, () => 1])(
    "%s in its data, which JSON cannot represent, is not sent",
    async (value) => {
      await expectNotSent(service, send({ ...base, eventData: { value } }), "eventData.value");
    },
  );
});
