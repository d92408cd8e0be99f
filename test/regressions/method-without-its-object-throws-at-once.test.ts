import { AudienceClient } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { describe, expect, it, vi } from "vitest";

const mock = createMockService();
const { v1, v2 } = new AudienceClient(mock.clientOptions);

describe("A method that is called without its object works as with it", () => {
  it.each([
    ["v1.customers.upsert", v1.customers.upsert],
    ["v1.customers.get", v1.customers.get],
    ["v1.contactGroups.get", v1.contactGroups.get],
    ["v1.contactGroups.addContact", v1.contactGroups.addContact],
    ["v1.events.send", v1.events.send],
    ["v2.contacts.upsert", v2.contacts.upsert],
    ["v1.customers.list", v1.customers.list],
    ["v1.contactGroups.list", v1.contactGroups.list],
    ["v2.lists.list", v2.lists.list],
  ])("%s: an invalid call rejects, and does not throw", async (_name, call) => {
    const method = call as (...given: unknown[]) => PromiseLike<unknown>; // Without types, as JavaScript calls it.
    const given = 1;

    await expect(method(given, given, given)).rejects.toMatchObject({ outcome: "not-sent" });
    expect(mock.requests).toEqual([]);
  });

  it("a valid call is sent", async () => {
    const { upsert, get } = v1.customers;

    const { id } = await upsert({ email: "ada@example.com", email_opt_in: "SUBSCRIBED" });

    await expect(get(id)).resolves.toMatchObject({ id, attributes: { email: "ada@example.com" } });
  });
});

it("A test can replace a method", async () => {
  vi.spyOn(v1.customers, "get").mockRejectedValue(new Error("of a test"));

  await expect(v1.customers.get("ada")).rejects.toThrow("of a test");
});
