import { AudienceClient } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { expect, it } from "vitest";

// Pages may be shorter than their limit where the list hides items: then only a sign of more continues it.
const pages = [[{ id: "ada" }], [{ id: "bo" }], [{ id: "cy" }]];

function link(page: number): string {
  return `/api/v1/contact-groups?page=${page}`;
}

it.each<[string, (page: number, hasMore: boolean) => object]>([
  ["has_more as 1 or 0", (_, hasMore) => ({ has_more: Number(hasMore) })],
  ["hasMore as a string", (_, hasMore) => ({ hasMore: String(hasMore) })],
  ["the number of items that follow", (page) => ({ more: pages.length - page })],
  [
    "links as an array with rel",
    (page, hasMore) => ({
      links: [{ rel: "first", href: link(1) }, ...(hasMore ? [{ rel: "next", href: link(page + 1) }] : [])],
    }),
  ],
])("A list of short pages is read to its end by %s", async (_, signOf) => {
  const fetch = async (url: string) => {
    const page = Number(new URL(url).searchParams.get("page") ?? 1);
    return Response.json({ data: pages[page - 1] ?? [], ...signOf(page, page < pages.length) });
  };
  const audience = new AudienceClient({ ...createMockService().clientOptions, fetch });

  const items = await audience.v1.contactGroups.list().toArray();

  expect(items).toEqual(pages.flat());
});
