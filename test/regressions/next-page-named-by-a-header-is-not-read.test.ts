import { AudienceClient } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { expect, it } from "vitest";

// Two items are fewer than the limit: a page without a sign of more would be the last.
const pages = [[{ id: "ada" }, { id: "bo" }], [{ id: "cy" }, { id: "dee" }], [{ id: "eve" }]];

/** The pages as bare arrays, with these headers. */
function clientOf(headersOf: (page: number) => Record<string, string>) {
  const requests: number[] = [];
  const fetch = async (url: string) => {
    const page = Number(new URL(url).searchParams.get("page") ?? 1);
    requests.push(page);
    return Response.json(pages[page - 1] ?? [], { headers: headersOf(page) });
  };
  return { audience: new AudienceClient({ ...createMockService().clientOptions, fetch }), requests };
}

it.each<[string, (page: number) => Record<string, string>]>([
  [
    "Link",
    (page) => (page < 3 ? { link: `</a?page=1>; rel="first", </a?page=${page + 1}>; rel="next"` } : {}),
  ],
  [
    "Link, without quotes",
    (page) => ({ link: page < 3 ? `</a?page=${page + 1}>; rel=next` : "</a>; rel=prev" }),
  ],
  ["X-Total-Count", () => ({ "x-total-count": "5" })],
])("A list in bare arrays is read to its end by the header %s", async (_, headersOf) => {
  const { audience, requests } = clientOf(headersOf);

  const items = await audience.v1.contactGroups.list().toArray();

  expect(items).toEqual(pages.flat());
  expect(requests).toEqual([1, 2, 3]);
});

it.each([{ link: `</style.css>; rel="preload"` }, { "x-total-count": "many" }])(
  "The headers %o say nothing of a next page",
  async (headers) => {
    const { audience, requests } = clientOf(() => headers);

    await audience.v1.contactGroups.list().toArray();

    expect(requests).toEqual([1]);
  },
);
