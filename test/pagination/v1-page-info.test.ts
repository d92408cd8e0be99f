import { describe, expect, it } from "vitest";
import { clientOf } from "./served-lists.ts";

const contacts = [{ id: "a" }, { id: "b" }];

/** A page of two contacts, which is full with the limit 2 and not with 3, and what stands around it. */
async function pageOf(body: unknown, limit: 2 | 3, headers: Record<string, string> = {}) {
  const { v1 } = clientOf(() => Response.json(body, { headers }));
  const { items: _, page: __, raw: ___, ...info } = await v1.customers.list({ limit });
  return info;
}

/** What a page shows whose rest is told: the same at any length of the page. */
async function infoOf(body: unknown, headers?: Record<string, string>): Promise<object> {
  const { limit: _, ...info } = await pageOf(body, 2, headers);
  expect(await pageOf(body, 3, headers)).toMatchObject(info);
  return info;
}

/** A page that says nothing of the rest: its length decides. */
async function expectNothing(body: unknown, headers?: Record<string, string>) {
  expect(await pageOf(body, 2, headers)).toEqual({ limit: 2, hasNextPage: true });
  expect(await pageOf(body, 3, headers)).toEqual({ limit: 3, hasNextPage: false });
}

const around = (info: object) => ({ data: contacts, ...info });
const [more, end] = [{ hasNextPage: true }, { hasNextPage: false }];

describe("a link to the next page", () => {
  const names =
    "next next_page nextPageUrl next-page-link next_url nextLink next_href next_cursor nextPageToken next_token";

  it.each(names.split(" "))("may be named %s", async (name) => {
    expect(await infoOf(around({ [name]: "x" }))).toEqual(more);
    expect(await infoOf(around({ links: { self: "/a", [name]: null } }))).toEqual(end);
  });

  it.each<[string, unknown]>([
    ["an absolute URL", "https://api.example.com/api/v1/customer?page=2"],
    ["a relative URL", "?page=2"],
    ["an object with href", { href: "/a?page=2" }],
    ["an object without href", { cursor: "c" }],
    ["a page number", 2],
  ])("may be %s", async (_, next) => {
    expect(await infoOf(around({ links: { next } }))).toEqual(more);
  });

  it.each<[string, unknown]>([
    ["null", null],
    ["an empty string", ""],
    ["false", false],
    ["0", 0],
    ["an object whose href is null", { href: null }],
  ])("is none where it is %s", async (_, next) => {
    expect(await infoOf(around({ _links: { next } }))).toEqual(end);
  });

  it("may stand in an array of links with their relations", async () => {
    expect(
      await infoOf(around({ links: [null, { rel: "prev" }, { rel: "next", href: "/a?page=2" }] })),
    ).toEqual(more);
    expect(await infoOf(around({ links: [{ rel: "next", href: null }] }))).toEqual(end);
  });

  it.each<[string, object]>([
    ["a link to the last one", { links: { first: "/a", last: "/a?page=7" } }],
    ["a link to the one before", { links: { prev: { href: "/a?page=1" } } }],
    ["a link to the one before that is null", { previous_page_url: null }],
  ])("is left out, so that there is none, beside %s", async (_, info) => {
    expect(await infoOf(around(info))).toEqual(end);
    expect(await infoOf(around({ ...info, total: 3 }))).toEqual({ totalItems: 3, ...more });
    expect(await infoOf(around({ ...info, pages: 3 }))).toEqual({ totalPages: 3, ...more });
  });

  it.each<[string, object]>([
    ["a link to this page alone", { links: { self: "/a" } }],
    ["a link to the first page", { links: { first: "/a" } }],
    ["no link to the page before", { prev: false, last: 3 }],
    ["links without a relation", { links: [{ url: null, label: "next" }] }],
    ["an array", { next: ["/a?page=2"] }],
  ])("is not told by %s", async (_, info) => {
    await expectNothing(around(info));
  });
});

describe("a flag", () => {
  const names = "has_more hasNext has_next_page hasMorePages has_more_items has_more_results more";

  it.each(names.split(" "))("for more may be named %s", async (name) => {
    expect(await infoOf(around({ [name]: true }))).toEqual(more);
    expect(await infoOf(around({ meta: { [name]: false } }))).toEqual(end);
  });

  it.each(["last", "isLast", "is_last_page"])("for the end may be named %s", async (name) => {
    expect(await infoOf(around({ [name]: false }))).toEqual(more);
    expect(await infoOf(around({ [name]: true }))).toEqual(end);
  });

  it.each<[unknown, object]>([
    [1, more],
    [0, end],
    ["1", more],
    ["true", more],
    ["false", end],
    [17, more],
  ])("may be %j, as a number of items that follow", async (flag, expected) => {
    expect(await infoOf(around({ has_more: flag }))).toEqual(expected);
  });

  it.each([{ has_more: "yes" }, { has_more: null }, { last: 3 }, { last: 0 }])(
    "is not told by %j",
    async (info) => {
      await expectNothing(around(info));
    },
  );

  it("goes before a link", async () => {
    expect(await infoOf(around({ next_cursor: "c", has_more: false }))).toEqual(end);
    expect(await infoOf(around({ next_cursor: null, last: false }))).toEqual(more);
  });
});

describe("a total", () => {
  const ofItems =
    "total total_items totalCount total-results total_records totalElements total_entries total_rows total_hits " +
    "total_size total_customers total_contacts total_profiles total_contact_groups total_groups total_lists " +
    "total_segments items_total item_count items_count records_total record_count result_count count";

  it.each(ofItems.split(" "))("of items may be named %s", async (name) => {
    expect(await infoOf(around({ [name]: 250 }))).toEqual({ totalItems: 250, ...more });
    expect(await infoOf(around({ pagination: { [name]: "250" } }))).toEqual({ totalItems: 250, ...more });
  });

  const ofPages =
    "total_pages totalPages pages_total page_count pagesCount num_pages numberOfPages last_page pages";

  it.each(ofPages.split(" "))("of pages may be named %s", async (name) => {
    expect(await infoOf(around({ [name]: 3 }))).toEqual({ totalPages: 3, ...more });
    expect(await infoOf(around({ [name]: 1 }))).toEqual({ totalPages: 1, ...end });
  });

  it("is a count only where it is above the items here: else it may be that of the page", async () => {
    for (const name of ["count", "itemCount", "items_count", "record_count", "resultCount"])
      await expectNothing(around({ [name]: 2 }));
    expect(await infoOf(around({ count: 3 }))).toEqual({ totalItems: 3, ...more });
    expect(await infoOf(around({ count: 20, total: 2 }))).toEqual({ totalItems: 2, ...end });
  });

  it.each([
    { total: -1 },
    { total: 2.5 },
    { total: "many" },
    { total: null },
    { total: { value: 250, relation: "eq" } },
    { total: { total: 250 } },
    { pages: [1, 2] },
    { page: 1 },
    { meta: null, pagination: [] },
  ])("is not told by %j", async (info) => {
    await expectNothing(around(info));
  });

  it("that is no count gives way to another", async () => {
    expect(await infoOf(around({ total: { value: 250 }, meta: { total: 250 } }))).toEqual({
      totalItems: 250,
      ...more,
    });
  });
});

it.each(["limit", "per_page", "perPage", "page_size", "items_per_page"])(
  "the size of a page may be named %s: it counts where it is smaller than the limit",
  async (name) => {
    expect(await pageOf(around({ [name]: 2 }), 3)).toEqual({ limit: 2, hasNextPage: true });
    expect(await pageOf(around({ meta: { [name]: "5" } }), 2)).toEqual({ limit: 2, hasNextPage: true });
    expect(await pageOf(around({ [name]: 0 }), 3)).toEqual({ limit: 3, hasNextPage: false });
  },
);

describe("all of these stand", () => {
  const info = { total: 250, next: null };
  const expected = { totalItems: 250, ...end };

  it.each<[string, object]>([
    ["beside the items", { data: contacts, ...info }],
    ["beside the items in data", { data: { people: contacts, ...info } }],
    ["beside data that holds the items", { data: { people: contacts }, ...info }],
    ["beside items under a key of the body", { people: contacts, ...info }],
    ...["meta", "_metadata", "pagination", "page", "paging", "pageInfo", "paginator", "pager"].flatMap(
      (holder): [string, object][] => [
        [`under ${holder}`, { data: contacts, [holder]: info }],
        [`under ${holder} in data`, { data: { people: contacts, [holder]: info } }],
        [`under ${holder} in meta`, { data: contacts, meta: { [holder]: info } }],
      ],
    ),
    ["in several holders", { data: contacts, meta: { total: 250, pagination: { links: { next: null } } } }],
  ])("%s", async (_, body) => {
    expect(await infoOf(body)).toEqual(expected);
  });

  it.each<[string, unknown]>([
    ["under another key", { data: contacts, result: info }],
    ["in an item", { data: contacts.map((contact) => ({ ...contact, ...info })) }],
    ["too deep", { data: contacts, meta: { meta: { meta: { meta: info } } } }],
  ])("and not %s", async (_, body) => {
    await expectNothing(body);
  });

  it("beside the items first, of two values", async () => {
    expect(await infoOf({ data: { people: contacts, total: 2 }, total: 9, meta: { total: 250 } })).toEqual({
      totalItems: 2,
      ...end,
    });
  });
});

describe("the headers of a bare array", () => {
  it.each<[string, Record<string, string>, object]>([
    ["Link", { link: `</a?page=1>; rel="first", </a?page=2>; rel="next"` }, more],
    ["Link without quotes", { link: "</a?page=2>; rel=next" }, more],
    ["Link without a next page", { link: '</a?page=1>; rel="first", </a?page=1>; REL=PREV' }, end],
    ["Link with the last page", { link: '</a?page=1>; rel="last"' }, end],
    ["Link with a page before", { link: '</a?page=1>; rel="previous"' }, end],
    ["X-Total-Count", { "x-total-count": "5" }, { totalItems: 5, ...more }],
  ])("%s tells the rest", async (_, headers, expected) => {
    expect(await infoOf(contacts, headers)).toEqual(expected);
  });

  it.each([
    { link: `</style.css>; rel="preload"` },
    { link: "</a>; rel=first" },
    { "x-total-count": "many" },
  ])("%o say nothing", async (headers) => {
    await expectNothing(contacts, headers);
  });

  it("give way to the body", async () => {
    const headers = { link: "</a?page=2>; rel=next", "x-total-count": "5" };
    expect(await infoOf(around({ next: null, total: 7 }), headers)).toEqual({ totalItems: 7, ...end });
  });
});
