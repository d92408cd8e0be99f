import { AudienceClient, UnexpectedResponseError } from "audience-sdk";
import { describe, expect, it } from "vitest";
import { offline } from "../fuzz/offline-client.ts";

const contact = { email: "ada@example.com", email_opt_in: "SUBSCRIBED" } as const;

function clientFor(body: unknown): AudienceClient {
  return new AudienceClient({ ...offline, fetch: async () => Response.json(body) });
}

describe("A numeric id becomes a string", () => {
  const envelope = { data: { type: "profile", id: 4711, attributes: {} } };

  it("of a contact", async () => {
    const { v1 } = clientFor(envelope);

    await expect(v1.customers.upsert(contact)).resolves.toMatchObject({ id: "4711" });
    await expect(v1.customers.get("4711")).resolves.toMatchObject({ id: "4711" });
  });

  it("of a contact that is added to a list", async () => {
    const added = { message: "ok", contact: { email: contact.email, contactUUID: 4711, action: "created" } };
    const { v1 } = clientFor(added);

    await expect(v1.contactGroups.addContact("list-1", contact)).resolves.toEqual({
      ...added,
      contact: { ...added.contact, contactUUID: "4711" },
    });
  });
});

describe("A number that JSON has rounded is no id", () => {
  const id = 2 ** 60;

  it("of a contact", async () => {
    const { v1 } = clientFor({ data: { id } });

    await expect(v1.customers.get("c")).rejects.toThrow(UnexpectedResponseError);
  });

  it("of a contact that is added to a list", async () => {
    const { v1 } = clientFor({ contact: { contactUUID: id, action: "created" } });

    await expect(v1.contactGroups.addContact("list-1", contact)).rejects.toThrow(
      "`contact.contactUUID` of its body is no id",
    );
  });
});

it("A contact outside of the documented envelope is no response to upsert and get", async () => {
  const { v1 } = clientFor({ id: 4711, email: contact.email });

  await expect(v1.customers.upsert(contact)).rejects.toThrow("data: required: an object");
});
