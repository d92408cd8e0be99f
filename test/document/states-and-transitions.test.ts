import type { V1OptIn } from "audience-sdk";
import { describe, expect, it } from "vitest";
import { emailIdentifier, phoneIdentifier, useService, v2Contact } from "./service.ts";

const states: readonly V1OptIn[] = ["SUBSCRIBED", "NON_SUBSCRIBED", "UNSUBSCRIBED"];
const pairs = [undefined, ...states].flatMap((before) => states.map((sent) => [before, sent] as const));
const email = "new@example.com";

describe("a contact that is", () => {
  const service = useService();
  const upsert = (contact: object) => service.audience.v1.customers.upsert({ email, ...contact });
  const addOmitted = () =>
    service.audience.v1.contactGroups.addContact("news", { email }, { consent: "service-decides" });
  const state = () => service.contact(email)?.email_opt_in;
  const exists = async (before: V1OptIn | undefined) => before && upsert({ email_opt_in: before });

  it.each(pairs)(
    "%s, and created or updated with email_opt_in %s, has the value sent",
    async (before, sent) => {
      await exists(before);
      const { attributes } = await upsert({ email_opt_in: sent });

      expect(attributes.email_opt_in).toBe(sent);
      expect(state()).toBe(sent);
    },
  );

  it.each(pairs)("%s, and added to a list with email_opt_in %s, has the value sent", async (before, sent) => {
    await exists(before);
    const added = { email, email_opt_in: sent };
    const { contact } = await service.audience.v1.contactGroups.addContact("news", added);

    expect(contact.action).toBe(before === undefined ? "created" : "updated");
    expect(state()).toBe(sent);
    expect(service.state().memberships).toContainEqual(
      expect.objectContaining({ listId: "news", contactId: contact.contactUUID }),
    );
  });

  it.each(states)("%s, and updated without email_opt_in (not documented), stays so", async (before) => {
    await exists(before);
    await upsert({ first_name: "New" });

    expect(state()).toBe(before);
  });

  it("new, and added to a list without email_opt_in, is NON_SUBSCRIBED", async () => {
    expect((await addOmitted()).contact.action).toBe("created");
    expect(state()).toBe("NON_SUBSCRIBED");
  });

  it.each(states)("%s, and added to a list without email_opt_in, is SUBSCRIBED", async (before) => {
    await exists(before);
    const { contact } = await addOmitted();

    expect(contact.action).toBe("updated");
    expect(state()).toBe("SUBSCRIBED");
  });
});

describe("joining a list", () => {
  const service = useService();
  const add = (listId: string, address = "ada@example.com") =>
    service.audience.v1.contactGroups.addContact(listId, { email: address, email_opt_in: "SUBSCRIBED" });
  const triggers = () =>
    service.state().triggers.map(({ name, contactId, listId }) => [name, contactId, listId]);

  it("a contact that is no member becomes one; the trigger fires once for each contact and each list", async () => {
    await add("news");
    await add("news");
    await add("offers");
    await add("news", "new@example.com");
    await add("news");

    const id = service.contact("new@example.com")?.id;
    const joined = [
      ["ada", "news"],
      ["ada", "offers"],
      [id, "news"],
    ];
    expect(triggers()).toEqual(joined.map((one) => ["subscribed to list", ...one]));
    const members = service.state().memberships.map(({ contactId, listId }) => `${contactId} ${listId}`);
    expect(members.toSorted()).toEqual(["grace news", ...joined.map((one) => one.join(" "))].toSorted());
  });

  it("the trigger fires once over both families", async () => {
    await add("news");
    await service.audience.v2.contacts.upsert(
      v2Contact({ listIds: ["news"], identifiers: [emailIdentifier("ada@example.com")] }),
    );

    expect(triggers()).toHaveLength(1);
  });
});

describe("v2 channel statuses", () => {
  const service = useService();
  const upsert = (...identifiers: ReturnType<typeof emailIdentifier>[]) =>
    service.audience.v2.contacts.upsert(v2Contact({ identifiers }));

  it("a channel that no identifier names does not change", async () => {
    await upsert(phoneIdentifier("+390111111", "subscribed"));

    expect(service.contact("ada@example.com")).toMatchObject({
      email_opt_in: "UNSUBSCRIBED",
      phone_opt_in: "SUBSCRIBED",
    });
  });
});
