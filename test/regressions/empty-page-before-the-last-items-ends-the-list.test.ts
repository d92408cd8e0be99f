import { AudienceClient } from "audience-sdk";
import { expect, it } from "vitest";

/** Reads `/v2/lists` of a service that responds with these pages, and with empty ones after them. */
async function read(pages: readonly (readonly number[])[], totals: object) {
  const requested: number[] = [];
  const { v2 } = new AudienceClient({
    baseUrlV2: "https://api.example.com",
    apiKeyV2: "k",
    appId: "a",
    rateLimiter: false,
    fetch: async (url) => {
      const page = Number(new URL(url).searchParams.get("page") ?? 1);
      requested.push(page);
      const lists = (pages[page - 1] ?? []).map((id) => ({ uuid: String(id) }));
      return Response.json({ success: true, data: { lists, current_page: page, ...totals } });
    },
  });
  const lists = await v2.lists.list().toArray();
  return { read: lists.map(({ uuid }) => Number(uuid)), requested };
}

it.each([
  ["total items", { total_items: 3 }],
  ["total items and total pages for pages without a gap", { total_items: 3, total_pages: 2 }],
])("An item behind an empty page is read where there are %s", async (_, totals) => {
  expect(await read([[1, 2], [], [3]], totals)).toEqual({ read: [1, 2, 3], requested: [1, 2, 3] });
});

it("Items behind several single empty pages are read", async () => {
  const pages = [[], [1, 2], [], [3, 4], [], [5]];
  expect(await read(pages, { total_items: 5 })).toEqual({
    read: [1, 2, 3, 4, 5],
    requested: [1, 2, 3, 4, 5, 6],
  });
});

it("A list whose total counts hidden items ends without an error, after two empty pages", async () => {
  expect(await read([[1, 2], [], [3]], { total_items: 6 })).toEqual({
    read: [1, 2, 3],
    requested: [1, 2, 3, 4, 5],
  });
});
