import { AudienceClient, UnexpectedResponseError } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { describe, expect, it } from "vitest";

function clientFor(body: unknown): AudienceClient {
  const fetch = async () => Response.json(body, { status: 200 });
  return new AudienceClient({ ...createMockService().clientOptions, fetch });
}

const attributes = { email: "ada@example.com" };
const envelope = {
  data: { type: "profile", id: "ada", attributes },
  links: { self: "/ada" },
  id: "request-77",
};

describe("In an envelope with an id beside its data, the documented data.id counts", () => {
  it.each(["request-77", 77])("of a contact (%j)", async (id) => {
    const { v1 } = clientFor({ ...envelope, id });

    await expect(v1.customers.get("ada")).resolves.toEqual({
      type: "profile",
      id: "ada",
      attributes,
      links: { self: "/ada" },
    });
  });

  it("of a list or segment", async () => {
    const { v1 } = clientFor({ data: { id: "news", name: "News" }, id: "request-77" });

    await expect(v1.contactGroups.get("news")).resolves.toEqual({ id: "news", name: "News" });
  });

  it("of the items of a list", async () => {
    const { v1 } = clientFor([envelope]);

    await expect(v1.customers.list().toArray()).resolves.toMatchObject([{ id: "ada", attributes }]);
  });

  it("where data.id is unreadable, the other id does not replace it", async () => {
    const { v1 } = clientFor({ ...envelope, data: { id: null, attributes } });

    await expect(v1.customers.get("ada")).rejects.toThrow(UnexpectedResponseError);
  });
});

it("An item with an id, whose data has none, is the contact itself", async () => {
  const { v1 } = clientFor([{ id: "ada", email: "ada@example.com", data: { shoe: 43 } }]);

  await expect(v1.customers.list().toArray()).resolves.toMatchObject([
    { id: "ada", attributes: { email: "ada@example.com", data: { shoe: 43 } } },
  ]);
});
