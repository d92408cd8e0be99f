import { v2ListPageSchema } from "audience-sdk/schemas";
import { describe, expect, it } from "vitest";
import { useService } from "./service.ts";

describe("a v2 list", () => {
  const service = useService();
  const lists = () => service.audience.v2.lists.list().toArray();

  it.each([
    ["uuid", "news"],
    ["name", "Newsletter"],
    ["created_at", 1_700_000_000],
    ["description", "Weekly"],
  ])("%s is %j", async (field, value) => {
    const [news] = await lists();

    expect(news).toMatchObject({ [field]: value });
  });

  it("the description may be absent", async () => {
    const [, offers] = await lists();

    expect(offers).toEqual({ uuid: "offers", name: "Offers", created_at: 1_700_000_001 });
  });

  it("created_at counts seconds, not milliseconds", async () => {
    const [news] = await lists();

    expect(new Date(1_000 * Number(news?.created_at)).getUTCFullYear()).toBe(2023);
  });

  it("has the same id in the v1 family", async () => {
    const v1 = await service.audience.v1.contactGroups.list({ type: "LIST" }).toArray();

    expect((await lists()).map(({ uuid }) => uuid)).toEqual(v1.map(({ id }) => id));
  });

  it("is never a segment, which only the v1 family has", async () => {
    expect((await lists()).map(({ uuid }) => uuid)).not.toContain("engaged");
  });

  it("has fields in snake_case, and fits its schema", async () => {
    const { body } = await service.send("GET", "/v2/lists");

    expect(v2ListPageSchema.safeParse(body)).toMatchObject({ success: true, data: body });
  });
});
