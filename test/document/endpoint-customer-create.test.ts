import { BadRequestError } from "audience-sdk";
import { describe, expect, it } from "vitest";
import { entryPoints } from "../mock/entry-points.ts";
import { errorOf, expectNotSent, expectRefusedByService, untyped, useService } from "./service.ts";

const CREATE = "/api/v1/customer/create";

describe.each(entryPoints)("customers.upsert, $name", (entryPoint) => {
  const service = useService({ entryPoint });
  const upsert = (contact: unknown) => service.audience.v1.customers.upsert(untyped(contact));

  it("sends the flat contact as JSON with the v1 key", async () => {
    const contact = { email: "new@example.com", email_opt_in: "SUBSCRIBED" };
    await upsert(contact);

    expect(service.mock.requests).toMatchObject([
      {
        operation: "v1.customers.upsert",
        method: "POST",
        path: CREATE,
        query: {},
        headers: {
          "content-type": expect.stringMatching(/^application\/json\b/),
          "x-api-key": "acme-mock-key",
        },
        body: contact,
        status: 201,
        applied: true,
      },
    ]);
  });

  it("creates a contact where no contact has its e-mail or phone: 201 and the profile", async () => {
    const { data, response } = await upsert({ email: "new@example.com", first_name: "New" }).withResponse();

    expect(response.status).toBe(201);
    expect(data).toMatchObject({
      type: "profile",
      attributes: { email: "new@example.com", first_name: "New" },
    });
    expect(service.contact("new@example.com")?.id).toBe(data.id);
    expect(service.state().contacts).toHaveLength(3);
  });

  it.each<[string, object]>([
    ["e-mail", { email: "ada@example.com" }],
    ["phone", { phone: "+390111111" }],
    ["e-mail, with another phone", { email: "ada@example.com", phone: "7654321" }],
    ["phone, with another e-mail", { phone: "+390111111", email: "augusta@example.com" }],
  ])("updates the contact with the same %s, also with 201", async (_, name) => {
    const { data, response } = await upsert({ ...name, first_name: "Augusta" }).withResponse();

    expect(response.status).toBe(201);
    expect(data.id).toBe("ada");
    expect(service.state().contacts).toHaveLength(2);
    expect(service.state().contacts[0]).toMatchObject({ id: "ada", ...name, first_name: "Augusta" });
  });

  it("updates the contact with the same e-mail in another case", async () => {
    const { id } = await upsert({ email: "ADA@Example.com", first_name: "Augusta" });

    expect(id).toBe("ada");
    expect(service.state().contacts).toHaveLength(2);
  });

  it("adds the contact to no list", async () => {
    const before = service.state().memberships;
    await upsert({ email: "new@example.com", email_opt_in: "SUBSCRIBED" });

    expect(service.state()).toMatchObject({ memberships: before, triggers: [] });
  });

  it("an update leaves the contact in its lists", async () => {
    const before = service.state().memberships;
    await upsert({ email: "grace@example.com", first_name: "Amazing" });

    expect(service.state().memberships).toEqual(before);
  });

  it.each<[string, object, string]>([
    ["an unrecognized field", { email: "new@example.com", firstName: "New" }, "firstName"],
    ["neither e-mail nor phone", { first_name: "New" }, "email"],
    [
      "31 custom properties",
      {
        email: "new@example.com",
        custom_properties: Object.fromEntries(
          [..."abcdefghijklmnopqrstuvwxyz01234"].map((key) => [key, "x"]),
        ),
      },
      "custom_properties",
    ],
  ])("%s: not sent, and refused by the service", async (_, contact, path) => {
    await expectNotSent(service, upsert(contact), path);
    await expectRefusedByService(service, CREATE, contact);
  });

  it.each<[string, unknown]>([
    ["nothing", undefined],
    ["null", null],
    ["a text", "new@example.com"],
    ["an array", [{ email: "new@example.com" }]],
  ])("%s is refused as a contact: not sent, and refused by the service", async (_, contact) => {
    await expectNotSent(service, upsert(contact), "");
    await expectRefusedByService(service, CREATE, contact);
  });
});

describe("customers.upsert where only the service can find the error", () => {
  const service = useService({ variants: { unknownCountry: "refused" } });

  it("a 400 is a BadRequestError, and nothing has been written", async () => {
    const error = await errorOf(
      service.audience.v1.customers.upsert({ email: "new@example.com", country: "Atlantis" }),
    );

    expect(error).toBeInstanceOf(BadRequestError);
    expect(error).toMatchObject({
      status: 400,
      outcome: "not-applied",
      request: { operation: "v1.customers.upsert", attempts: 1 },
    });
    expect(service.contact("new@example.com")).toBeUndefined();
  });
});
