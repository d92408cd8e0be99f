import { NotFoundError } from "audience-sdk";
import { v1AddContactResultSchema, v1ListContactSchema } from "audience-sdk/schemas";
import { describe, expect, it } from "vitest";
import { entryPoints } from "../mock/entry-points.ts";
import { expectError, expectNotSent, testRefused, untyped, useService } from "./service.ts";

const ADD = "/api/v1/contact-groups/news/contacts";
const contact = { email: "new@example.com", email_opt_in: "SUBSCRIBED" } as const;

describe.each(entryPoints)("contactGroups.addContact, $name", (entryPoint) => {
  const service = useService({ entryPoint });
  const add = (body: unknown, listId = "news") =>
    service.audience.v1.contactGroups.addContact(listId, untyped(body));
  const members = (listId = "news") =>
    service
      .state()
      .memberships.filter((each) => each.listId === listId)
      .map(({ contactId }) => contactId);

  it("creates the contact, adds it to the list, and returns a plain object with the action", async () => {
    const { data, response } = await add(contact).withResponse();

    const created = service.contact("new@example.com");
    expect(response.status).toBe(200);
    expect(data).toEqual({
      message: expect.any(String),
      contact: { email: "new@example.com", contactUUID: created?.id, action: "created" },
    });
    expect(v1AddContactResultSchema.safeParse(data).success).toBe(true);
    expect(members()).toEqual(["grace", created?.id]);
  });

  it("updates the contact, adds it to the list, and returns the action", async () => {
    const result = await add({ ...contact, email: "ada@example.com", first_name: "Augusta" });

    expect(result.contact).toEqual({ email: "ada@example.com", contactUUID: "ada", action: "updated" });
    expect(service.contact("ada@example.com")).toMatchObject({
      first_name: "Augusta",
      email_opt_in: "SUBSCRIBED",
    });
    expect(members()).toEqual(["grace", "ada"]);
  });

  testRefused({ service, path: ADD, call: add }, {}, [
    [{ contact }, "contact", "email", "email_opt_in"],
    [[contact], ""],
    [{ phone: "1234567", phone_opt_in: "SUBSCRIBED", email_opt_in: "SUBSCRIBED" }, "email"],
    [{ ...contact, emailOptIn: "SUBSCRIBED" }, "emailOptIn"],
  ]);

  it("a list that does not exist is a NotFoundError; the contact may have been created, in no list", async () => {
    await expectError(add(contact, "nothing"), NotFoundError, {
      status: 404,
      outcome: "unknown",
      request: { attempts: 1 },
    });
    expect(service.contact("new@example.com")).toMatchObject({ email_opt_in: "SUBSCRIBED" });
    expect(members("nothing")).toEqual([]);
    expect(service.mock.requests).toMatchObject([{ status: 404, applied: true }]);
  });

  it("problems of the list id and of the contact are reported together", async () => {
    const error = await expectNotSent(service, add({ ...contact, gender: "m" }, " "), "listId", "gender");

    expect(error.message).toContain("is empty; pass the id as the service returned it");
  });
});

describe("email_opt_in when adding to a list", () => {
  const service = useService();
  const { email } = contact;

  it("is required: without it nothing is sent, and the message names the reason and the remedy", async () => {
    const error = await expectNotSent(
      service,
      service.audience.v1.contactGroups.addContact("news", untyped({ email })),
      "email_opt_in",
    );

    expect(error.message).toMatch(/SUBSCRIBED/);
    expect(error.message).toMatch(/service-decides/);
  });

  it("is optional for the service, and in its schema", async () => {
    expect(v1ListContactSchema.safeParse({ email }).success).toBe(true);
    expect((await service.send("POST", ADD, { email })).status).toBe(200);
  });

  it("is sent where it is present, whatever the option", async () => {
    await service.audience.v1.contactGroups.addContact("news", contact, { consent: "service-decides" });

    expect(service.contact(email)?.email_opt_in).toBe("SUBSCRIBED");
  });

  it.each(["client-decides", true, null])(
    "no other value of that option is accepted: %j",
    async (consent) => {
      const call = service.audience.v1.contactGroups.addContact(
        "news",
        untyped({ email }),
        untyped({ consent }),
      );

      await expect(Promise.resolve(call)).rejects.toMatchObject({ outcome: "not-sent" });
      expect(service.mock.requests).toEqual([]);
    },
  );
});

describe("a segment", () => {
  const service = useService();

  it("cannot get members: NotFoundError, although the contact is written", async () => {
    await expectError(service.audience.v1.contactGroups.addContact("engaged", contact), NotFoundError);
    expect(service.state().memberships.map(({ listId }) => listId)).not.toContain("engaged");
    expect(service.contact(contact.email)).toMatchObject({ email_opt_in: "SUBSCRIBED" });
  });
});

describe.each(entryPoints)("contactGroups.get, $name", (entryPoint) => {
  const service = useService({ entryPoint });

  it("returns a list with its other fields, which are not documented, as they are", async () => {
    expect(await service.audience.v1.contactGroups.get("news")).toEqual({
      id: "news",
      name: "Newsletter",
      type: "LIST",
      description: "Weekly",
      created_at: 1_700_000_000,
    });
  });

  it("an unknown id is a NotFoundError", async () => {
    await expectError(service.audience.v1.contactGroups.get("nothing"), NotFoundError, {
      status: 404,
      outcome: "not-applied",
    });
  });
});

describe.each(["flat", "data", "resource"] as const)(
  "contactGroups.get where the response is %s",
  (v1Group) => {
    const service = useService({ variants: { v1Group } });

    it.each(["news", "engaged"])("%s yields its id", async (id) => {
      const group = await service.audience.v1.contactGroups.get(id);

      expect(group.id).toBe(id);
      expect(JSON.stringify(group)).toContain(id === "news" ? "Newsletter" : "Engaged");
    });
  },
);
