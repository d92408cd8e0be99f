import { NotFoundError } from "audience-sdk";
import { describe, expect, it } from "vitest";
import { entryPoints } from "../mock/entry-points.ts";
import { errorOf, untyped, useService } from "./service.ts";

const event = {
  eventName: "order placed",
  uniqueIdentifier: "order-1",
  contact: { email: "ada@example.com" },
  eventData: { total: 9.5, items: [{ sku: "a" }] },
};

describe.each(entryPoints)("events.send, $name", (entryPoint) => {
  const service = useService({ entryPoint });
  const send = (more: object = {}) => service.audience.v1.events.send(untyped({ ...event, ...more }));

  it("sends the event as JSON with the v1 key, and returns its identifier, the status and the body", async () => {
    const result = await send();

    expect(result).toEqual({ uniqueIdentifier: "order-1", status: 200, body: { status: "accepted" } });
    expect(service.mock.requests).toMatchObject([
      {
        operation: "v1.events.send",
        method: "POST",
        path: "/api/v1/events",
        query: {},
        headers: {
          "content-type": expect.stringMatching(/^application\/json\b/),
          "x-api-key": "acme-mock-key",
        },
        body: event,
        applied: true,
      },
    ]);
  });

  it("records it on the contact's timeline", async () => {
    await send();
    await send({ uniqueIdentifier: "order-2" });

    expect(
      service.state().events.map(({ contactId, uniqueIdentifier }) => [contactId, uniqueIdentifier]),
    ).toEqual([
      ["ada", "order-1"],
      ["ada", "order-2"],
    ]);
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

  it("a repeated uniqueIdentifier leads to one event and one run", async () => {
    const first = await send();
    const again = await send();

    expect(again).toEqual(first);
    expect(service.state()).toMatchObject({
      events: [{ uniqueIdentifier: "order-1" }],
      automationRuns: [{ automation: "Thanks" }],
    });
    expect(service.mock.requests.map(({ applied }) => applied)).toEqual([true, false]);
  });

  it("a repeated uniqueIdentifier changes nothing, whatever else is sent", async () => {
    await send();
    await send({ contact: { email: "new@example.com" } });

    expect(service.state().events).toHaveLength(1);
    expect(service.contact("new@example.com")).toBeUndefined();
  });

  it("a retry after a lost response has the same identifier, so that the event is recorded once", async () => {
    service.mock.addFault({ kind: "500-after", operation: "v1.events.send", times: 1 });
    const { uniqueIdentifier } = await send({ uniqueIdentifier: undefined });

    expect(service.mock.requests.map(({ body }) => body)).toEqual([
      expect.objectContaining({ uniqueIdentifier }),
      expect.objectContaining({ uniqueIdentifier }),
    ]);
    expect(service.state().events).toMatchObject([{ uniqueIdentifier }]);
    expect(service.state().automationRuns).toHaveLength(1);
  });

  it("an unknown contactUUID is refused by the mock, and the error contains the identifier", async () => {
    const error = await errorOf(send({ contact: { contactUUID: "nobody" } }));

    expect(error).toBeInstanceOf(NotFoundError);
    expect(error).toMatchObject({ uniqueIdentifier: "order-1", outcome: "not-applied" });
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
    const result = await service.audience.v1.events.send(event);

    expect(result).toEqual({ uniqueIdentifier: "order-1", status: eventStatus, body: eventBody });
    expect(service.state().events).toHaveLength(1);
  });
});

describe.each(["contact", "root"] as const)(
  "events.send where contactUUID belongs in the %s",
  (contactUuidPlace) => {
    const service = useService({ variants: { contactUuidPlace } });

    it("identifies the contact", async () => {
      const naming =
        contactUuidPlace === "contact" ? { contact: { contactUUID: "grace" } } : { contactUUID: "grace" };
      await service.audience.v1.events.send({ eventName: "order placed", ...naming });

      expect(service.state().events).toMatchObject([{ contactId: "grace" }]);
    });
  },
);
