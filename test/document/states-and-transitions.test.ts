import type { V1Contact, V1OptIn } from "audience-sdk";
import { describe, expect, it } from "vitest";
import { emailIdentifier, errorOf, phoneIdentifier, untyped, useService, v2Contact } from "./service.ts";

const states: readonly V1OptIn[] = ["SUBSCRIBED", "NON_SUBSCRIBED", "UNSUBSCRIBED"];
const pairs = states.flatMap((before) => states.map((sent) => [before, sent] as const));
const serviceDecides = { consent: "service-decides" } as const;

describe("customers.upsert", () => {
  const service = useService();
  const upsert = (contact: V1Contact) => service.audience.v1.customers.upsert(contact);
  const state = (email: string) => service.contact(email)?.email_opt_in;

  it("contact does not exist, email_opt_in omitted: NON_SUBSCRIBED", async () => {
    const { attributes } = await upsert({ email: "new@example.com" });

    expect(attributes.email_opt_in).toBe("NON_SUBSCRIBED");
    expect(state("new@example.com")).toBe("NON_SUBSCRIBED");
  });

  it.each(states)("contact does not exist, email_opt_in %s sent: the value sent", async (sent) => {
    const { attributes } = await upsert({ email: "new@example.com", email_opt_in: sent });

    expect(attributes.email_opt_in).toBe(sent);
    expect(state("new@example.com")).toBe(sent);
  });

  it.each(pairs)("contact is %s, email_opt_in %s sent: the value sent", async (before, sent) => {
    await upsert({ email: "new@example.com", email_opt_in: before });
    await upsert({ email: "new@example.com", email_opt_in: sent });

    expect(state("new@example.com")).toBe(sent);
  });

  it.each(states)(
    "contact is %s, email_opt_in omitted (not documented): the mock keeps it by default",
    async (before) => {
      await upsert({ email: "new@example.com", email_opt_in: before });
      await upsert({ email: "new@example.com", first_name: "New" });

      expect(state("new@example.com")).toBe(before);
    },
  );

  it("phone_opt_in has a state of its own", async () => {
    await upsert({
      email: "new@example.com",
      phone: "1234567",
      email_opt_in: "UNSUBSCRIBED",
      phone_opt_in: "SUBSCRIBED",
    });

    expect(service.contact("new@example.com")).toMatchObject({
      email_opt_in: "UNSUBSCRIBED",
      phone_opt_in: "SUBSCRIBED",
    });
  });
});

describe("contactGroups.addContact", () => {
  const service = useService();
  const add = (email: string, email_opt_in: V1OptIn) =>
    service.audience.v1.contactGroups.addContact("news", { email, email_opt_in });
  const addOmitted = (email: string) =>
    service.audience.v1.contactGroups.addContact("news", { email }, serviceDecides);
  const state = (email: string) => service.contact(email)?.email_opt_in;

  it("contact does not exist, email_opt_in omitted: NON_SUBSCRIBED, action created", async () => {
    const { contact } = await addOmitted("new@example.com");

    expect(contact.action).toBe("created");
    expect(state("new@example.com")).toBe("NON_SUBSCRIBED");
  });

  it.each(states)("contact is %s, email_opt_in omitted: SUBSCRIBED, action updated", async (before) => {
    await service.audience.v1.customers.upsert({ email: "new@example.com", email_opt_in: before });
    const { contact } = await addOmitted("new@example.com");

    expect(contact.action).toBe("updated");
    expect(state("new@example.com")).toBe("SUBSCRIBED");
  });

  it.each(states)(
    "contact does not exist, email_opt_in %s sent: the value sent, and a member",
    async (sent) => {
      const { contact } = await add("new@example.com", sent);

      expect(contact.action).toBe("created");
      expect(state("new@example.com")).toBe(sent);
      expect(service.state().memberships).toContainEqual(
        expect.objectContaining({ listId: "news", contactId: contact.contactUUID }),
      );
    },
  );

  it.each(pairs)(
    "contact is %s, email_opt_in %s sent: the value sent, and a member",
    async (before, sent) => {
      await service.audience.v1.customers.upsert({ email: "new@example.com", email_opt_in: before });
      const { contact } = await add("new@example.com", sent);

      expect(contact.action).toBe("updated");
      expect(state("new@example.com")).toBe(sent);
      expect(service.state().memberships).toContainEqual(
        expect.objectContaining({ listId: "news", contactId: contact.contactUUID }),
      );
    },
  );

  it("omitting email_opt_in twice creates and then subscribes the contact, so the client requires it", async () => {
    await addOmitted("new@example.com");
    await addOmitted("new@example.com");

    expect(state("new@example.com")).toBe("SUBSCRIBED");
  });

  it("omitting it on the client is an error with the reason, so that no contact is subscribed by accident", async () => {
    const error = await errorOf(
      service.audience.v1.contactGroups.addContact("news", untyped({ email: "ada@example.com" })),
    );

    expect(error).toMatchObject({
      code: "validation",
      issues: [{ path: ["email_opt_in"], message: expect.stringContaining("SUBSCRIBED") }],
    });
    expect(state("ada@example.com")).toBe("UNSUBSCRIBED");
    expect(service.mock.requests).toEqual([]);
  });
});

describe("joining a list", () => {
  const service = useService();
  const add = (listId: string, email = "ada@example.com") =>
    service.audience.v1.contactGroups.addContact(listId, { email, email_opt_in: "SUBSCRIBED" });
  const triggers = () =>
    service.state().triggers.map(({ name, contactId, listId }) => [name, contactId, listId]);

  it("a contact that is no member becomes one, and the trigger fires", async () => {
    await add("news");

    expect(service.state().memberships).toContainEqual(
      expect.objectContaining({ listId: "news", contactId: "ada" }),
    );
    expect(triggers()).toEqual([["subscribed to list", "ada", "news"]]);
  });

  it("adding a member again does not fire it again", async () => {
    await add("news");
    await add("news");

    expect(triggers()).toHaveLength(1);
    expect(service.state().memberships.filter(({ contactId }) => contactId === "ada")).toHaveLength(1);
  });

  it("adding a member of the seed does not fire it", async () => {
    await add("news", "grace@example.com");

    expect(triggers()).toEqual([]);
  });

  it("the trigger fires once for each contact and each list", async () => {
    await add("news");
    await add("offers");
    await add("news", "new@example.com");
    await add("news");

    expect(triggers()).toEqual([
      ["subscribed to list", "ada", "news"],
      ["subscribed to list", "ada", "offers"],
      ["subscribed to list", service.contact("new@example.com")?.id, "news"],
    ]);
  });

  it("the trigger fires once over both families", async () => {
    await add("news");
    await service.audience.v2.contacts.upsert(
      v2Contact({ listIds: ["news"], identifiers: [emailIdentifier("ada@example.com")] }),
    );

    expect(triggers()).toHaveLength(1);
  });

  it("an unknown list fires no trigger", async () => {
    await errorOf(add("nothing"));

    expect(triggers()).toEqual([]);
  });

  it("the status governs whether e-mail reaches the contact: an unsubscribed one joins and stays unsubscribed", async () => {
    await service.audience.v1.contactGroups.addContact("news", {
      email: "ada@example.com",
      email_opt_in: "UNSUBSCRIBED",
    });

    expect(service.contact("ada@example.com")?.email_opt_in).toBe("UNSUBSCRIBED");
    expect(service.state().memberships.map(({ contactId }) => contactId)).toContain("ada");
  });
});

describe("joining a list again after leaving it, where listIds ends other memberships", () => {
  const service = useService({ variants: { v2ListIds: "replaced" } });
  const upsert = (...listIds: string[]) =>
    service.audience.v2.contacts.upsert(
      v2Contact({ listIds, identifiers: [emailIdentifier("ada@example.com")] }),
    );

  it("does not fire the trigger again: it fires once per contact per list", async () => {
    await upsert("news");
    await upsert();
    await upsert("news");

    expect(service.state().memberships.map(({ contactId }) => contactId)).toContain("ada");
    expect(service.state().triggers).toMatchObject([{ contactId: "ada", listId: "news" }]);
    expect(service.state().automationRuns).toHaveLength(1);
  });
});

describe("v2 channel statuses", () => {
  const service = useService();
  const upsert = (...identifiers: ReturnType<typeof emailIdentifier>[]) =>
    service.audience.v2.contacts.upsert(v2Contact({ identifiers }));

  it.each([
    ["subscribed", "SUBSCRIBED"],
    ["unsubscribed", "UNSUBSCRIBED"],
  ])("%s is the v1 state %s", async (status, state) => {
    await upsert(emailIdentifier("new@example.com", status));

    expect(service.contact("new@example.com")?.email_opt_in).toBe(state);
  });

  it("a channel that no identifier names does not change", async () => {
    await upsert(phoneIdentifier("+390111111", "subscribed"));

    expect(service.contact("ada@example.com")).toMatchObject({
      email_opt_in: "UNSUBSCRIBED",
      phone_opt_in: "SUBSCRIBED",
    });
  });

  it("other statuses are not documented, and are sent; the mock stores them in upper case", async () => {
    await upsert(emailIdentifier("new@example.com", "pending"));

    expect(service.mock.requests).toMatchObject([
      { status: 200, body: { identifiers: [{ channels: { email: { status: "pending" } } }] } },
    ]);
    expect(service.contact("new@example.com")?.email_opt_in).toBe("PENDING");
  });
});

describe.each(["SUBSCRIBED", "NON_SUBSCRIBED"] as const)(
  "customers.upsert where the service makes an omitted email_opt_in %s",
  (state) => {
    const service = useService({ variants: { emailOptInOmitted: state } });

    it("an existing contact with an explicit email_opt_in gets that value", async () => {
      const { customers } = service.audience.v1;
      const omitted = await customers.upsert({ email: "ada@example.com", first_name: "Ada" });
      const result = await customers.upsert({ email: "ada@example.com", email_opt_in: "UNSUBSCRIBED" });

      expect(omitted.attributes.email_opt_in).toBe(state);
      expect(result.attributes.email_opt_in).toBe("UNSUBSCRIBED");
    });
  },
);
