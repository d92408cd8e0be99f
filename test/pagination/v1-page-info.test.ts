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
async function expectNothing(body: unknown) {
  expect(await pageOf(body, 2)).toEqual({ limit: 2, hasNextPage: true });
  expect(await pageOf(body, 3)).toEqual({ limit: 3, hasNextPage: false });
}

const around = (info: object) => ({ data: contacts, ...info });
const [more, end] = [{ hasNextPage: true }, { hasNextPage: false }];
const totals = (totalItems: number, totalPages: number) => ({ totalItems, totalPages });

describe("the end of a list is told", () => {
  it.each<[string, object, object]>([
    [
      "by JSON:API, at its end",
      { links: { self: "/a", next: null }, meta: { total: 2 } },
      { totalItems: 2, ...end },
    ],
    ["by HAL", { _links: { next: { href: "/a?page=2" } } }, more],
    ["by HAL, at the end", { _links: { next: { href: null } } }, end],
    ["by Laravel, flat", { next_page_url: null, last_page: 1, total: 2 }, { ...totals(2, 1), ...end }],
    [
      "by Fractal",
      { meta: { pagination: { total: 5, total_pages: 3, links: {} } } },
      { ...totals(5, 3), ...more },
    ],
    [
      "by Spring",
      { page: { size: 2, totalElements: 5, totalPages: 3, number: 0 } },
      { ...totals(5, 3), ...more },
    ],
    ["by Spring without totals", { last: false, first: true, size: 2, numberOfElements: 2 }, more],
    ["by Spring without totals, at the end", { last: true, size: 2, next: "/a?page=2" }, end],
    ["by a flag, at the end", { pagination: { hasNextPage: false, total: "5" } }, { totalItems: 5, ...end }],
    ["by a flag that differs from a link", { next: "/a?page=2", hasNext: false }, end],
    ["by a page number", { nextPage: 2 }, more],
    ["by other names", { totalCount: 5, pages: 3 }, { ...totals(5, 3), ...more }],
    ["beside no number", { total: { value: 9 }, meta: { total: 5 } }, { totalItems: 5, ...more }],
  ])("%s", async (_, info, expected) => {
    expect(await infoOf(around(info))).toEqual(expected);
  });

  it.each<[string, object]>([
    ["no link but to this page", { links: { self: "/a" } }],
    ["a link to the last page", { last: "/a?page=9", links: { first: "/a", last: null } }],
    ["no number", { total: -1, total_pages: 2.5, pages: [1, 2], meta: null, pagination: [] }],
    ["no flag", { has_more: "yes" }],
    ["the same under another key", { result: { total: 250, next: null } }],
  ])("by nothing where there is %s", async (_, info) => {
    await expectNothing(around(info));
  });

  it("beside the items, beside data and beside its key, the nearest first", async () => {
    const info = { total: 250, next: null };
    for (const body of [
      { data: { people: contacts, ...info } },
      { data: { people: contacts }, ...info },
      { people: contacts, ...info },
      { data: { people: contacts, ...info }, total: 9, meta: { total: 7 } },
    ])
      expect(await infoOf(body)).toEqual({ totalItems: 250, ...end });
    await expectNothing(around({ data: contacts.map((contact) => ({ ...contact, ...info })) }));
  });

  it.each<[string, Record<string, string>, object]>([
    ["Link", { link: `</a?page=1>; rel="first", </a?page=2>; rel="next"` }, more],
    ["Link without quotes", { link: "</a?page=2>; REL=next" }, more],
    ["X-Total-Count", { "x-total-count": "5" }, { totalItems: 5, ...more }],
  ])("by the header %s of a bare array, behind the body of another", async (_, headers, expected) => {
    expect(await infoOf(contacts, headers)).toEqual(expected);
    expect(await infoOf(around({ next: null, total: 7 }), headers)).toEqual({ totalItems: 7, ...end });
  });
});

it.each(["limit", "per_page", "items_per_page"])(
  "the size of a page may be named %s: it counts where it is smaller than the limit",
  async (name) => {
    expect(await pageOf(around({ [name]: 2 }), 3)).toEqual({ limit: 2, hasNextPage: true });
    expect(await pageOf(around({ meta: { [name]: "5" } }), 2)).toEqual({ limit: 2, hasNextPage: true });
    expect(await pageOf(around({ [name]: 0 }), 3)).toEqual({ limit: 3, hasNextPage: false });
  },
);
