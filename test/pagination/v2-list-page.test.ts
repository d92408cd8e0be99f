import { UnexpectedResponseError } from "audience-sdk";
import { describe, expect, it } from "vitest";
import { clientOf } from "./served-lists.ts";

/** The first page of the lists, from a service that responds with this body. */
const firstPage = async (body: unknown) => await clientOf(() => body).v2.lists.list();

const lists = [{ uuid: "u1", name: "News", created_at: 1_700_000_000, description: "" }, { uuid: "u2" }];

describe("GET /v2/lists", () => {
  it("returns the documented page", async () => {
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

  it.each<[string, object]>([
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

  it("lists count although success is false, and so does an empty list", async () => {
    expect((await firstPage({ success: false, data: { lists } })).items).toEqual(lists);
    expect((await firstPage({ success: true, data: { lists: [] } })).items).toEqual([]);
  });

  it("keeps fields that the service adds", async () => {
    const added = { uuid: "u1", name: null, colour: "red", nested: { a: [1] } };
    expect((await firstPage({ data: { lists: [added] } })).items).toEqual([added]);
  });

  it.each<[string, unknown, string]>([
    ["no object", null, "the value: must be an object, not null"],
    ["a bare array", lists, "the value: must be an object, not an array"],
    ["no data", { success: true, lists }, "data: required: an object"],
    ["no lists", { data: { items: lists } }, "data.lists: required: an array"],
    ["null as lists", { data: { lists: null, total_items: 3 } }, "data.lists: must be an array, not null"],
    [
      "a list without uuid",
      { data: { lists: [{ uuid: "u1" }, { name: "News" }] } },
      "data.lists.1.uuid: required: a string or a number",
    ],
    ["a list that is null", { data: { lists: [null] } }, "data.lists.0: must be an object, not null"],
    ["a blank uuid", { data: { lists: [{ uuid: " " }] } }, "`data.lists.0.uuid` of its body is no id"],
    ["success false, and no lists", { success: false, data: { lists: [] } }, "the call failed"],
  ])("is an UnexpectedResponseError with %s", async (_, body, message) => {
    const reading = firstPage(body);
    await expect(reading).rejects.toThrow(UnexpectedResponseError);
    await expect(reading).rejects.toThrow(message);
    // The remedy for an input would not help here.
    await expect(reading).rejects.not.toThrow("leave it out");
  });

  it.each<[string, unknown, string]>([
    [
      "another key of data",
      { success: true, data: { items: lists } },
      "keys success, data, its `data` is an object with the keys items",
    ],
    ["data", { data: lists }, "keys data, its `data` is an array of 2"],
    ["the body", { success: true, lists }, "keys success, lists"],
  ])("the error names the keys that it found where the lists are under %s", async (_, body, keys) => {
    await expect(firstPage(body)).rejects.toThrow(
      `200 on GET /v2/lists, but its body is not the documented list but an object with the ${keys}: data`,
    );
  });
});
