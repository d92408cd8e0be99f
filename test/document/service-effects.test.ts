import { describe, expect, it } from "vitest";
import { entryPoints } from "../mock/entry-points.ts";
import { emailIdentifier, phoneIdentifier, useService, v2Contact } from "./service.ts";

describe.each(entryPoints)("the effects of the service, $name", (entryPoint) => {
  const service = useService({ entryPoint });

  it("contacts are created and updated, each with a status per channel, by either family", async () => {
    const { audience } = service;
    await audience.v1.customers.upsert({
      email: "new@example.com",
      phone: "7654321",
      email_opt_in: "SUBSCRIBED",
      phone_opt_in: "UNSUBSCRIBED",
    });
    await audience.v2.contacts.upsert(
      v2Contact({
        identifiers: [
          emailIdentifier("new@example.com", "unsubscribed"),
          phoneIdentifier("7654321", "subscribed"),
        ],
      }),
    );

    expect(service.state().contacts).toHaveLength(3);
    expect(service.contact("new@example.com")).toMatchObject({
      first_name: "Alan",
      email_opt_in: "UNSUBSCRIBED",
      phone_opt_in: "SUBSCRIBED",
    });
  });

  it("lists are returned by both families, segments by v1 only", async () => {
    const v1 = await service.audience.v1.contactGroups.list().toArray();
    const v2 = await service.audience.v2.lists.list().toArray();

    expect(v1.map(({ id }) => id)).toEqual(["news", "offers", "engaged"]);
    expect(v2.map(({ uuid }) => uuid)).toEqual(["news", "offers"]);
  });

  it("a contact is created and added to a list in one call", async () => {
    const { contact } = await service.audience.v1.contactGroups.addContact("offers", {
      email: "new@example.com",
      email_opt_in: "SUBSCRIBED",
      first_name: "New",
    });

    expect(service.mock.requests).toHaveLength(1);
    expect(service.contact("new@example.com")).toMatchObject({ id: contact.contactUUID, first_name: "New" });
    expect(service.state().memberships).toContainEqual(
      expect.objectContaining({ listId: "offers", contactId: contact.contactUUID }),
    );
  });

  it("a custom event creates its contact, appears on the timeline, and triggers an automation", async () => {
    await service.audience.v1.events.send({
      eventName: "order placed",
      contact: { email: "new@example.com" },
    });

    const contactId = service.contact("new@example.com")?.id;
    expect(service.state()).toMatchObject({
      events: [{ contactId, eventName: "order placed" }],
      automationRuns: [{ contactId, automation: "Thanks" }],
    });
  });

  it("joining a list triggers an automation", async () => {
    await service.audience.v1.contactGroups.addContact("news", {
      email: "ada@example.com",
      email_opt_in: "SUBSCRIBED",
    });

    expect(service.state().automationRuns).toMatchObject([
      { contactId: "ada", automation: "Hello", on: { listId: "news" } },
    ]);
  });

  it("a key reads and changes its own organization only", async () => {
    const globex = service.clientWith({
      apiKey: "globex-mock-key",
      apiKeyV2: "globex-mock-key",
      appId: "globex-mock-app",
    });
    const acmeBefore = service.state();
    await globex.v1.customers.upsert({ email: "ada@example.com", email_opt_in: "SUBSCRIBED" });

    expect(await globex.v1.customers.list().toArray()).toMatchObject([
      { attributes: { email: "ada@example.com" } },
    ]);
    expect(await globex.v2.lists.list().toArray()).toEqual([]);
    expect(service.state()).toEqual(acmeBefore);
  });
});
