import { describe, expect, it } from "vitest";
import { entryPoints } from "../mock/entry-points.ts";
import { untyped, useService } from "./service.ts";

describe.each(entryPoints)("inbound events, $name", (entryPoint) => {
  const service = useService({ entryPoint });
  const send = (eventName: string, more: object = {}) =>
    service.audience.v1.events.send(untyped({ eventName, contact: { email: "ada@example.com" }, ...more }));

  it("an event appears on its contact's timeline, with its data", async () => {
    await send("page seen", { eventData: { url: "/pricing" } });

    expect(service.state().events).toMatchObject([
      { contactId: "ada", eventName: "page seen", eventData: { url: "/pricing" } },
    ]);
  });

  it("an event triggers the automations of its name, and no others", async () => {
    await send("order placed");

    expect(service.state().automationRuns).toMatchObject([{ automation: "Thanks", contactId: "ada" }]);
  });

  it("an event without a matching automation is recorded all the same", async () => {
    await send("Order Placed");

    expect(service.state()).toMatchObject({ events: [{ eventName: "Order Placed" }], automationRuns: [] });
  });

  it("events are in the order of their arrival", async () => {
    await send("first");
    await send("second");
    await send("third");

    expect(service.state().events.map(({ eventName }) => eventName)).toEqual(["first", "second", "third"]);
  });

  it("joining a list is a separate trigger, once for each contact and list", async () => {
    const add = () =>
      service.audience.v1.contactGroups.addContact("news", {
        email: "ada@example.com",
        email_opt_in: "SUBSCRIBED",
      });
    await add();
    await add();

    expect(service.state().triggers).toMatchObject([
      { name: "subscribed to list", contactId: "ada", listId: "news" },
    ]);
    expect(service.state().automationRuns).toMatchObject([{ automation: "Hello" }]);
  });

  it("an event belongs to the organization of its key", async () => {
    const globex = service.clientWith({ apiKey: "globex-mock-key" });
    await send("order placed", { uniqueIdentifier: "order-1" });
    await globex.v1.events.send({
      eventName: "order placed",
      uniqueIdentifier: "order-1",
      contact: { email: "ada@example.com" },
    });

    expect(service.state().events).toHaveLength(1);
    expect(service.mock.organization("globex")).toMatchObject({
      events: [{ uniqueIdentifier: "order-1" }],
      automationRuns: [],
    });
  });
});
