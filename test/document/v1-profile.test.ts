import { UnexpectedResponseError } from "audience-sdk";
import { v1ProfileSchema } from "audience-sdk/schemas";
import { describe, expect, it } from "vitest";
import { errorOf, now, useService } from "./service.ts";

const CREATE = "/api/v1/customer/create";

describe("the profile envelope", () => {
  const service = useService();
  const path = (value: unknown, keys: string) =>
    keys.split(".").reduce<unknown>((at, key) => Reflect.get(Object(at), key), value);

  it.each([
    ["data.type", "profile"],
    ["data.id", "ada"],
    ["data.attributes.email", "ada@example.com"],
    ["data.attributes.phone", "+390111111"],
    ["data.attributes.first_name", "Ada"],
    ["data.attributes.email_opt_in", "UNSUBSCRIBED"],
    ["data.attributes.source", "api"],
    ["data.attributes.created", now],
    ["data.attributes.updated", now],
  ])("%s is present: %s", async (keys, value) => {
    const { body } = await service.send("GET", "/api/v1/customer/ada");

    expect(path(body, keys)).toBe(value);
  });

  it("links lead to the contact and to its lists", async () => {
    const { links, relationships } = await service.audience.v1.customers.get("ada");

    expect(new URL(links?.self ?? "").pathname).toBe("/api/v1/customer/ada");
    expect(new URL(relationships?.lists?.links?.related ?? "").pathname).toMatch(
      /^\/api\/v1\/customer\/ada\//,
    );
  });

  it("fits its schema", async () => {
    const { body } = await service.send("GET", "/api/v1/customer/ada");

    expect(v1ProfileSchema.safeParse(body)).toMatchObject({ success: true, data: body });
  });

  it("the client returns the resource, with the links of the envelope", async () => {
    const { body } = await service.send("GET", "/api/v1/customer/ada");
    const profile = await service.audience.v1.customers.get("ada");

    const { links, ...resource } = profile;
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

  it("the id stays the same over all writes", async () => {
    const { id } = await service.audience.v1.customers.upsert({ email: "new@example.com" });
    const again = await service.audience.v1.customers.upsert({
      email: "new@example.com",
      first_name: "Renamed",
    });

    expect(again.id).toBe(id);
  });

  it("the id fetches the contact", async () => {
    const { id } = await service.audience.v1.customers.upsert({ email: "new@example.com" });

    expect((await service.audience.v1.customers.get(id)).attributes.email).toBe("new@example.com");
  });

  it("the id names the contact of an event, as its contactUUID", async () => {
    const { id } = await service.audience.v1.customers.upsert({ phone: "1234567" });
    await service.audience.v1.events.send({ eventName: "order placed", contact: { contactUUID: id } });

    expect(service.state().events).toMatchObject([{ contactId: id, eventName: "order placed" }]);
  });

  it("further undocumented attributes are kept", async () => {
    const { attributes } = await service.audience.v1.customers.upsert({
      email: "new@example.com",
      external_id: "crm-7",
    });

    expect(attributes.external_id).toBe("crm-7");
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

describe("a profile with the documented attributes only", () => {
  const service = useService({ variants: { profileAttributes: "documented" } });

  it("has at most seven, without the ones that have no value", async () => {
    const { attributes } = await service.audience.v1.customers.upsert({
      email: "new@example.com",
      first_name: "New",
      last_name: "One",
    });

    expect(attributes).toEqual({
      email: "new@example.com",
      first_name: "New",
      email_opt_in: "NON_SUBSCRIBED",
      source: "api",
      created: now,
      updated: now,
    });
  });
});

describe("a response without a profile", () => {
  const service = useService();

  it("is an UnexpectedResponseError, and after a write the outcome is unknown", async () => {
    service.mock.addFault({ kind: "wrong-json", operation: "v1.customers.upsert" });
    const error = await errorOf(
      service.audience.v1.customers.upsert({ email: "new@example.com", email_opt_in: "SUBSCRIBED" }),
    );

    expect(error).toBeInstanceOf(UnexpectedResponseError);
    expect(error).toMatchObject({ status: 201, outcome: "unknown" });
    expect(service.mock.requests).toMatchObject([{ path: CREATE, applied: true }]);
  });
});
