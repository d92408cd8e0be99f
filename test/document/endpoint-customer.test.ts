import { NotFoundError } from "audience-sdk";
import { v1ProfileSchema } from "audience-sdk/schemas";
import { describe, expect, it } from "vitest";
import { entryPoints } from "../mock/entry-points.ts";
import { expectError, now, testRefused, untyped, useService } from "./service.ts";

const CREATE = "/api/v1/customer/create";

describe.each(entryPoints)("customers.upsert, $name", (entryPoint) => {
  const service = useService({ entryPoint });
  const upsert = (contact: unknown) => service.audience.v1.customers.upsert(untyped(contact));

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
    ["e-mail, in another case", { email: "ADA@Example.com" }],
    ["phone", { phone: "+390111111" }],
    ["e-mail, with another phone", { email: "ada@example.com", phone: "7654321" }],
    ["phone, with another e-mail", { phone: "+390111111", email: "augusta@example.com" }],
  ])("updates the contact with the same %s, also with 201", async (_, name) => {
    const { data, response } = await upsert({ ...name, first_name: "Augusta" }).withResponse();

    expect(response.status).toBe(201);
    expect(data.id).toBe("ada");
    expect(service.state().contacts).toHaveLength(2);
    expect(service.state().contacts[0]).toMatchObject({ id: "ada", first_name: "Augusta" });
    expect(data.attributes).toMatchObject(name);
  });

  it("adds the contact to no list, and takes it off none", async () => {
    const before = service.state().memberships;
    await upsert({ email: "new@example.com", email_opt_in: "SUBSCRIBED" });
    await upsert({ email: "grace@example.com", first_name: "Amazing" });

    expect(service.state()).toMatchObject({ memberships: before, triggers: [] });
  });

  testRefused({ service, path: CREATE, call: upsert }, {}, [
    [{ email: "new@example.com", firstName: "New" }, "firstName unrecognized_keys"],
    [{ first_name: "New" }, "email custom"],
    [{ email: undefined, phone: undefined }, "email custom"],
    [[{ email: "new@example.com" }], ""],
  ]);
});

describe.each(entryPoints)("customers.get, $name", (entryPoint) => {
  const service = useService({ entryPoint });

  it("an unknown id is a NotFoundError after one request", async () => {
    await expectError(service.audience.v1.customers.get("nobody"), NotFoundError, {
      status: 404,
      outcome: "not-applied",
      request: { path: "/api/v1/customer/{id}", attempts: 1 },
    });
    expect(service.mock.requests).toHaveLength(1);
  });

  it.each(["create", "%E0%A4%A", "ada%2Fx"])("the service has no contact at %s", async (id) => {
    expect((await service.send("GET", `/api/v1/customer/${id}`)).status).toBe(404);
  });
});

describe("the profile envelope", () => {
  const service = useService();

  it("has a type, an id, the attributes and their times", async () => {
    const { body } = await service.send("GET", "/api/v1/customer/ada");

    const times = { created: now, updated: now };
    const own = { email: "ada@example.com", phone: "+390111111", first_name: "Ada", source: "api" };
    const attributes = { ...own, email_opt_in: "UNSUBSCRIBED", ...times };
    expect(body).toMatchObject({ data: { type: "profile", id: "ada", attributes } });
  });

  it("links lead to the contact and to its lists", async () => {
    const { links, relationships } = await service.audience.v1.customers.get("ada");

    expect(new URL(links?.self ?? "").pathname).toBe("/api/v1/customer/ada");
    expect(new URL(relationships?.lists?.links?.related ?? "").pathname).toMatch(
      /^\/api\/v1\/customer\/ada\//,
    );
  });

  it("fits its schema, and the client returns the resource with the links of the envelope", async () => {
    const { body } = await service.send("GET", "/api/v1/customer/ada");
    const { links, ...resource } = await service.audience.v1.customers.get("ada");

    expect(v1ProfileSchema.safeParse(body)).toMatchObject({ success: true, data: body });
    expect({ data: resource, links }).toEqual(body);
  });

  it("creating, updating, getting and listing return the same profile", async () => {
    const written = await service.audience.v1.customers.upsert({
      email: "ada@example.com",
      email_opt_in: "SUBSCRIBED",
    });
    const got = await service.audience.v1.customers.get("ada");
    const [listed] = await service.audience.v1.customers.list().toArray({ max: 1 });

    expect(got).toEqual(written);
    expect(listed).toEqual(written);
  });
});

describe("a profile over time", () => {
  let nowMs = Date.UTC(2026, 0, 1);
  const service = useService({ clock: () => nowMs });

  it("created does not change, and updated is the time of the last write", async () => {
    await service.audience.v1.customers.upsert({ email: "new@example.com" });
    nowMs += 60_000;
    const { attributes } = await service.audience.v1.customers.upsert({
      email: "new@example.com",
      first_name: "Renamed",
    });

    expect(attributes).toMatchObject({
      created: "2026-01-01T00:00:00.000Z",
      updated: "2026-01-01T00:01:00.000Z",
    });
  });
});
