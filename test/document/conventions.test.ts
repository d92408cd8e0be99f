import { describe, expect, it } from "vitest";
import { entryPoints } from "../mock/entry-points.ts";
import { expectNotSent, expectRefusedByService, untyped, useService, v2Contact } from "./service.ts";

describe.each(entryPoints)("the conventions of both families, $name", (entryPoint) => {
  const service = useService({ entryPoint });

  it("v2 requests are in camelCase, and sent unchanged", async () => {
    const contact = v2Contact({ lastName: "Turing", countryCode: "GB" });
    await service.audience.v2.contacts.upsert(contact);

    expect(service.mock.requests[0]?.body).toEqual(contact);
  });

  it("v2 lists are in snake_case, and returned unchanged", async () => {
    const [news] = await service.audience.v2.lists.list().toArray();

    expect(Object.keys(news ?? {})).toEqual(["uuid", "name", "created_at", "description"]);
  });

  it("v2 responses are plain objects with status or success", async () => {
    const written = await service.send("POST", "/v2/contacts", v2Contact());
    const listed = await service.send("GET", "/v2/lists");

    expect(written.body).toEqual({ status: true });
    expect(listed.body).toMatchObject({ success: true, data: { lists: expect.any(Array) } });
  });

  it("v1 requests are in snake_case, and sent unchanged", async () => {
    const contact = { email: "new@example.com", first_name: "New", postal_code: "10123" };
    await service.audience.v1.customers.upsert(contact);

    expect(service.mock.requests[0]?.body).toEqual(contact);
  });

  it.each([
    [
      "customers.upsert",
      "/api/v1/customer/create",
      { email: "new@example.com", firstName: "New" },
      "firstName",
    ],
    [
      "contactGroups.addContact",
      "/api/v1/contact-groups/news/contacts",
      { email: "new@example.com", email_opt_in: "SUBSCRIBED", firstName: "New" },
      "firstName",
    ],
    [
      "events.send",
      "/api/v1/events",
      { eventName: "x", contact: { email: "ada@example.com" }, event_data: {} },
      "event_data",
    ],
  ])("an unrecognized field of %s is not sent, and is a 400", async (name, path, body, key) => {
    const { v1 } = service.audience;
    const calls: Record<string, () => PromiseLike<unknown>> = {
      "customers.upsert": () => v1.customers.upsert(untyped(body)),
      "contactGroups.addContact": () => v1.contactGroups.addContact("news", untyped(body)),
      "events.send": () => v1.events.send(untyped(body)),
    };
    await expectNotSent(service, calls[name]?.() ?? Promise.reject(new Error(name)), key);
    await expectRefusedByService(service, path, body);
  });

  it("v1 contacts are in an envelope of data and links; the response of adding to a list is a plain object", async () => {
    const created = await service.send("POST", "/api/v1/customer/create", { email: "new@example.com" });
    const added = await service.send("POST", "/api/v1/contact-groups/news/contacts", {
      email: "new@example.com",
    });

    expect(created.body).toEqual({ data: expect.any(Object), links: expect.any(Object) });
    expect(added.body).toEqual({ message: expect.any(String), contact: expect.any(Object) });
  });
});

describe("JSON", () => {
  const service = useService();

  it("a request has a content type exactly when it has a body", async () => {
    const { v1, v2 } = service.audience;
    await v1.customers.upsert({ email: "new@example.com" });
    await v1.contactGroups.addContact("news", { email: "new@example.com", email_opt_in: "SUBSCRIBED" });
    await v1.events.send({ eventName: "x", contact: { email: "new@example.com" } });
    await v2.contacts.upsert(v2Contact());
    await v1.customers.get("ada");
    await v2.lists.list();

    const types = service.mock.requests.map(({ headers }) => headers["content-type"]?.split(";")[0]);
    expect(types).toEqual([...Array.from({ length: 4 }, () => "application/json"), undefined, undefined]);
  });

  it.each([
    ["/api/v1/customer/create", { email: "new@example.com" }],
    ["/v2/contacts", v2Contact()],
  ])("the service refuses a body of another type on %s", async (path, body) => {
    const { status } = await service.send("POST", path, body, { "content-type": "text/plain" });

    expect(status).toBe(400);
    expect(service.state().contacts).toHaveLength(2);
  });

  it("all responses are JSON, also errors", async () => {
    const responses = await Promise.all([
      service.send("GET", "/v2/lists"),
      service.send("GET", "/v2/lists?page=0"),
      service.send("GET", "/api/v1/customer/nobody"),
      service.send("POST", "/api/v1/events", {}),
    ]);

    expect(responses.map(({ status }) => status)).toEqual([200, 400, 404, 400]);
    expect(responses.map(({ headers }) => headers.get("content-type")?.split(";")[0])).toEqual(
      responses.map(() => "application/json"),
    );
  });

  it("any character arrives unchanged", async () => {
    const first_name = "Zoë \u{1f388} \u0000 \u2028 <b>&\"'\\ 日本語";
    await service.audience.v1.customers.upsert({ email: "new@example.com", first_name });

    expect(service.contact("new@example.com")?.first_name).toBe(first_name);
    expect(
      (await service.audience.v1.customers.upsert({ email: "new@example.com" })).attributes.first_name,
    ).toBe(first_name);
  });
});
