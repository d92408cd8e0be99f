import { NotFoundError } from "audience-sdk";
import { describe, expect, it } from "vitest";
import { entryPoints } from "../mock/entry-points.ts";
import { fieldOf, valuesExcept } from "../properties/payloads/fields.ts";
import {
  expectError,
  expectNotSent,
  type FieldRow,
  testFields,
  testRefused,
  untyped,
  useService,
} from "./service.ts";

const order = {
  eventName: "order placed",
  uniqueIdentifier: "order-1",
  contact: { email: "ada@example.com" },
  eventData: { total: 9.5, items: [{ sku: "a" }] },
};

describe.each(entryPoints)("events.send, $name", (entryPoint) => {
  const service = useService({ entryPoint });
  const send = (more: object = {}) => service.audience.v1.events.send(untyped({ ...order, ...more }));

  it("returns its identifier, and the status and the body of the response", async () => {
    expect(await send()).toEqual({
      uniqueIdentifier: "order-1",
      status: 200,
      body: { status: "accepted" },
    });
    expect(service.mock.requests).toMatchObject([{ body: order, applied: true }]);
  });

  it("records it on the contact's timeline", async () => {
    await send();
    await send({ uniqueIdentifier: "order-2" });

    expect(service.state().events).toMatchObject(
      ["order-1", "order-2"].map((uniqueIdentifier) => ({ contactId: "ada", uniqueIdentifier })),
    );
    expect(service.state().events).toHaveLength(2);
  });

  it("creates the contact if needed", async () => {
    await send({ contact: { email: "new@example.com" } });

    expect(service.contact("new@example.com")).toMatchObject({ email_opt_in: "NON_SUBSCRIBED" });
  });

  it("an automation that eventName triggers fires", async () => {
    await send();

    expect(service.state().automationRuns).toMatchObject([
      { automation: "Thanks", contactId: "ada", on: { event: "order placed" } },
    ]);
  });

  it("an event without a matching automation is recorded all the same", async () => {
    await send({ eventName: "Order Placed" });

    expect(service.state()).toMatchObject({ events: [{ eventName: "Order Placed" }], automationRuns: [] });
  });

  it("belongs to the organization of its key", async () => {
    const globex = service.clientWith({ apiKey: "globex-mock-key" });
    await send();
    await globex.v1.events.send(order);

    expect(service.state().events).toHaveLength(1);
    expect(service.mock.organization("globex")).toMatchObject({
      events: [{ uniqueIdentifier: "order-1" }],
      automationRuns: [],
    });
  });

  it("a repeated uniqueIdentifier leads to one event and one run, whatever else is sent", async () => {
    const first = await send();
    const again = await send({ contact: { email: "new@example.com" } });

    expect(again).toEqual(first);
    expect(service.state()).toMatchObject({
      events: [{ uniqueIdentifier: "order-1" }],
      automationRuns: [{ automation: "Thanks" }],
    });
    expect(service.contact("new@example.com")).toBeUndefined();
    expect(service.mock.requests.map(({ applied }) => applied)).toEqual([true, false]);
  });

  it("an unknown contactUUID is refused by the mock, and the error contains the identifier", async () => {
    await expectError(send({ contact: { contactUUID: "nobody" } }), NotFoundError, {
      uniqueIdentifier: "order-1",
      outcome: "not-applied",
    });
    expect(service.state().events).toEqual([]);
  });
});

describe.each<[number, unknown]>([
  [200, { ok: true }],
  [201, { data: { id: "e1" } }],
  [202, undefined],
  [204, undefined],
  [200, "queued"],
  [200, []],
])("events.send where the response is %i with %j", (eventStatus, eventBody) => {
  const service = useService({ variants: { eventStatus, eventBody } });

  it("resolves with the body, if there is one", async () => {
    const result = await service.audience.v1.events.send(order);

    expect(result).toEqual({ uniqueIdentifier: "order-1", status: eventStatus, body: eventBody });
    expect(service.state().events).toHaveLength(1);
  });
});

const EVENTS = "/api/v1/events";

const filledText = {
  rule: "a text that is not empty",
  ...fieldOf(["x", "order placed", " ", "é".repeat(1_000)], ["", ...valuesExcept("string", "array")]),
  code: "too_small",
};
const named = { email: "ada@example.com" };

/** The table "Custom event", row by row, completed by the client's guide. */
const rows: readonly FieldRow[] = [
  { field: "eventName", ...filledText },
  { field: "uniqueIdentifier", ...filledText },
  {
    field: "contact",
    rule: "an object with the contact's email",
    ...fieldOf([named, { ...named, first_name: "Ada", tags: ["vip"] }], valuesExcept("object")),
  },
  {
    field: "eventData",
    rule: "free key–value data",
    ...fieldOf(
      [{}, { total: 9.5, isPresent: false, items: [{ sku: "a", tags: [] }] }, { "": "", constructor: 1 }],
      valuesExcept("object"),
    ),
  },
];

describe("a custom event", () => {
  const service = useService();
  const base = { eventName: "page seen", uniqueIdentifier: "seen-1", contact: { email: "ada@example.com" } };
  const send = (event: unknown) => service.audience.v1.events.send(untyped(event));

  const writing = { service, path: EVENTS, call: send };
  testFields(writing, rows, (field, value) => ({ ...base, [field]: value }), {
    expectStored({ field }, value) {
      expect(service.state().events).toMatchObject([{ contactId: "ada", ...base, [field]: value }]);
    },
  });

  testRefused(writing, base, [
    [{ eventName: undefined }, "eventName invalid_type"],
    [{ contact: undefined }, "contact custom"],
    [{ contact: {} }, "contact custom"],
    [{ contact: { phone: "+390111111" } }, "contact custom"],
    [{ contact: { contactUUID: "" } }, "contact.contactUUID invalid_format"],
    [{ contact: { contactUUID: 7 } }, "contact.contactUUID invalid_type"],
    [{ contact: { email: "ada" } }, "contact.email invalid_format"],
    [{ contact: { email: null } }, "contact.email invalid_type"],
    [{ contact: { email: "ada@example.com", name: null } }, "contact.name custom"],
    [{ contactUUID: "" }, "contactUUID invalid_format"],
    [{ contactUUID: null }, "contactUUID invalid_type"],
    [{ eventData: { items: [{ sku: null }] } }, "eventData.items.0.sku custom"],
    [{ event_name: "x" }, "event_name unrecognized_keys"],
    [{ data: {} }, "data unrecognized_keys"],
  ]);

  it.each<[string, object]>([
    ["contact.email", { contact: { email: "a\u200b@b" } }],
    ["contact.email", { contact: { email: "Ada <a@b>" } }],
    ["contact.contactUUID", { contact: { contactUUID: " " } }],
    ["contactUUID", { contact: undefined, contactUUID: "\t" }],
  ])("what names nobody is not sent as %s: %j", async (path, naming) => {
    await expectNotSent(service, send({ ...base, ...naming }), `${path} invalid_format`);
  });

  it("uniqueIdentifier is optional: the client generates and returns one, another for each event", async () => {
    const one = await send({ ...base, uniqueIdentifier: undefined });
    const other = await send({ ...base, uniqueIdentifier: undefined });

    const ids = [one, other].map(({ uniqueIdentifier }) => uniqueIdentifier);
    for (const id of ids) expect(id).toMatch(/\S{16,}/);
    expect(new Set(ids).size).toBe(2);
    expect(service.state().events).toMatchObject(ids.map((uniqueIdentifier) => ({ uniqueIdentifier })));
  });

  it("the contact of an event may have further keys, which do not change the stored contact", async () => {
    await send({ ...base, contact: { email: "ada@example.com", first_name: "Augusta" } });

    expect(service.contact("ada@example.com")?.first_name).toBe("Ada");
  });

  it.each<[string, object]>([
    ["in its contact", { contact: { contactUUID: "grace" } }],
    ["at its root", { contact: undefined, contactUUID: "grace" }],
    ["in its contact, beside the e-mail", { contact: { email: "grace@example.com", contactUUID: "grace" } }],
    ["at its root, with an empty contact", { contact: {}, contactUUID: "grace" }],
    ["at its root, beside the contact", { contact: { email: "grace@example.com" }, contactUUID: "grace" }],
  ])("a contactUUID %s names the contact", async (_, naming) => {
    await send({ ...base, ...naming });

    expect(service.state().events).toMatchObject([{ contactId: "grace" }]);
  });
});
