import { AudienceClient, UnexpectedResponseError } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { describe, expect, test } from "vitest";

/** The first page of the lists, from a service that responds with this body. */
async function firstPage(body: unknown) {
  const fetch = async () => Response.json(body);
  return await new AudienceClient({ ...createMockService().clientOptions, fetch }).v2.lists.list();
}

const lists = [{ uuid: "u1", name: "News", created_at: 1_700_000_000, description: "" }, { uuid: "u2" }];

describe("GET /v2/lists", () => {
  test("returns the documented page", async () => {
    const body = {
      success: true,
      data: { lists, current_page: 1, total_pages: 3, total_items: 45, items_per_page: 20 },
    };
    expect(await firstPage(body)).toMatchObject({
      items: lists,
      page: 1,
      limit: 20,
      totalItems: 45,
      totalPages: 3,
      hasNextPage: true,
      raw: body,
    });
  });

  test.each<[string, object]>([
    ["absent", {}],
    ["null", { current_page: null, total_pages: null, total_items: null, items_per_page: null }],
    ["no counts", { total_pages: -1, total_items: "many", items_per_page: {} }],
  ])("requires only the lists: totals may be %s", async (_, totals) => {
    const body = { data: { lists, ...totals } };
    const page = await firstPage(body);
    expect(page).toMatchObject({ items: lists, limit: 2, raw: body });
    expect(page).not.toHaveProperty("totalItems");
    expect(page).not.toHaveProperty("totalPages");
  });

  test("keeps fields that the service adds", async () => {
    const added = { uuid: "u1", name: null, colour: "red", nested: { a: [1] } };
    expect((await firstPage({ data: { lists: [added] } })).items).toEqual([added]);
  });

  test("has no lists where they are null and their number is 0", async () => {
    expect(await firstPage({ data: { lists: null, total_items: 0 } })).toMatchObject({
      items: [],
      totalItems: 0,
    });
  });

  test.each<[string, unknown, string]>([
    ["no object", null, "it is null"],
    ["a bare array", lists, "it is an array of 2"],
    ["no data", { success: true, lists }, "the keys success, lists"],
    ["no lists", { data: { items: lists } }, "`data` is an object with the keys items"],
    ["lists that are null", { data: { lists: null, total_items: 3 } }, "the keys lists, total_items"],
    [
      "a list without uuid",
      { data: { lists: [{ uuid: "u1" }, { name: "News" }] } },
      "`data.lists[1]` of its body has no `uuid`: it is an object with the keys name",
    ],
    [
      "a list that is null",
      { data: { lists: [null] } },
      "`data.lists[0]` of its body has no `uuid`: it is null",
    ],
    ["success false, and no lists", { success: false, data: { lists: [] } }, "the call failed"],
  ])("is an UnexpectedResponseError with %s", async (_, body, message) => {
    const reading = firstPage(body);
    await expect(reading).rejects.toThrow(UnexpectedResponseError);
    await expect(reading).rejects.toThrow(message);
  });
});
