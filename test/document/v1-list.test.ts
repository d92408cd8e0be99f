import { describe, expect, it } from "vitest";
import { expectNotSent, untyped, useService } from "./service.ts";

describe("a contact group", () => {
  const service = useService();

  it.each([
    ["list", "news"],
    ["segment", "engaged"],
  ])("a %s has an id, and is found by it", async (_, id) => {
    const group = await service.audience.v1.contactGroups.get(id);

    expect(group.id).toBe(id);
  });

  it("its other fields are not documented, and returned unchanged", async () => {
    const group = await service.audience.v1.contactGroups.get("news");

    expect(group).toEqual({
      id: "news",
      name: "Newsletter",
      type: "LIST",
      description: "Weekly",
      created_at: 1_700_000_000,
    });
  });

  it.each([
    ["LIST", ["news", "offers"]],
    ["SEGMENT", ["engaged"]],
    ["ALL", ["news", "offers", "engaged"]],
  ] as const)("the filter type=%s returns %j", async (type, ids) => {
    const groups = await service.audience.v1.contactGroups.list({ type }).toArray();

    expect(groups.map(({ id }) => id)).toEqual(ids);
    expect(service.mock.requests[0]?.query).toMatchObject({ type });
  });

  it.each(["list", "Segment", "", "CUSTOMER", 1, null])("the filter type=%j is not sent", async (type) => {
    await expectNotSent(service, service.audience.v1.contactGroups.list({ type: untyped(type) }), "type");
  });
});
