import { AudienceClient, type Fetch } from "audience-sdk";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { UnexpectedResponseError } from "../../src/errors.ts";
import { offline } from "../fuzz/offline-client.ts";
import { paginatorOf } from "../pagination/fake-list.ts";
import { runs } from "./runs.ts";

/** One page of a list, as a server sees it. */
interface ServedPage {
  items: unknown[];
  page: number;
  limit: number;
  total: number;
  pages: number;
}

type Hints = (page: ServedPage) => object;

const flat = (id: string): unknown => ({ id, email: `${id}@example.com`, tags: [{ id: "t" }] });
const resource = (id: string): unknown => ({
  type: "profile",
  id,
  attributes: { email: `${id}@example.com` },
});
const envelope = (id: string): unknown => ({ data: resource(id), links: { self: `/${id}` } });

const names = "items results customers contacts profiles lists contact_groups contactGroups people".split(
  " ",
);

type Wrap = (items: unknown[], hints: object) => unknown;

const wrappings: [string, Wrap][] = [
  ["data: [...]", (data, hints) => ({ data, ...hints })],
  ...names.flatMap((name): [string, Wrap][] => [
    [`${name}: [...]`, (items, hints) => ({ [name]: items, ...hints })],
    [`data: { ${name}: [...] }`, (items, hints) => ({ success: true, data: { [name]: items, ...hints } })],
    [`data: { ${name}: [...] }, totals outside`, (items, hints) => ({ data: { [name]: items }, ...hints })],
  ]),
];

const link = (page: number) => `https://example.com/api/v1/customer?limit=100&page=${page}`;

/** All of these show the end of the list, so that exactly its pages are requested. */
const withTotal: Record<string, Hints> = {
  total: ({ total }) => ({ total }),
  "total_items, total_pages": ({ total, pages, page, limit }) => ({
    total_items: total,
    total_pages: pages,
    current_page: page,
    items_per_page: limit,
  }),
  "totalItems, totalPages": ({ total, pages }) => ({ totalItems: total, totalPages: pages }),
  meta: ({ total, page, limit }) => ({ meta: { total, page, limit } }),
  "meta.pagination": ({ pages }) => ({ meta: { pagination: { total_pages: pages } } }),
  pagination: ({ total, pages }) => ({ pagination: { totalCount: total, pageCount: pages } }),
  links: ({ page, pages }) => ({ links: { self: link(page), next: page < pages ? link(page + 1) : null } }),
  "links with href": ({ page, pages }) => ({
    links: { self: { href: link(page) }, next: page < pages ? { href: link(page + 1) } : null },
  }),
  "links, next left out": ({ page, pages }) => ({
    links: { first: link(1), last: link(pages), ...(page < pages ? { next: link(page + 1) } : {}) },
  }),
  "links and total": ({ page, pages, total }) => ({
    links: { next: page < pages ? link(page + 1) : null },
    meta: { total },
  }),
  has_more: ({ page, pages }) => ({ has_more: page < pages }),
  next_page: ({ page, pages }) => ({ next_page: page < pages ? page + 1 : null }),
  "count, next, previous": ({ page, pages, total }) => ({
    count: total,
    next: page < pages ? link(page + 1) : null,
    previous: null,
  }),
  last: ({ page, pages }) => ({ last: page >= pages, number: page - 1 }),
};

const withoutTotal: Record<string, Hints> = {
  nothing: () => ({}),
  limit: ({ limit }) => ({ limit }),
  "self link": ({ page }) => ({ links: { self: link(page) } }),
  "count of this page": ({ items }) => ({ count: items.length }),
};

interface Serving {
  count: number;
  /** The page size that the server uses instead of the requested limit. */
  size: number;
  item?: (id: string) => unknown;
  respond: (page: ServedPage) => unknown;
  operation?: string | undefined;
  readAhead?: number;
  start?: number;
}

const idOf = (at: number) => `c${at}`;

/** Reads a whole list from a server with these responses; v1 requests pages of 100. */
async function readAll({
  count,
  size,
  item = flat,
  respond,
  operation = "v1.customers.list",
  readAhead = 1,
  start = 1,
}: Serving) {
  const all = Array.from({ length: count }, (_, at) => idOf(at));
  const requested: number[] = [];
  const fetch: Fetch = async (url) => {
    const page = Number(new URL(url).searchParams.get("page") ?? 1);
    requested.push(page);
    const items = all.slice((page - 1) * size, page * size).map(item);
    const pages = Math.max(1, Math.ceil(count / size));
    return Response.json(respond({ items, page, limit: size, total: count, pages }));
  };
  const { v1 } = new AudienceClient({ ...offline, fetch });
  const { list } = operation === "v1.customers.list" ? v1.customers : v1.contactGroups;
  const found: readonly { id: string }[] = await list({ page: start }, { readAhead }).toArray();
  const items = found.map(({ id }) => id);
  return { items, requested };
}

const upTo = (last: number, first = 1) =>
  Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => first + at);
const counts = [0, 1, 100, 201];

describe("every item of a v1 list is yielded once, in order", () => {
  const operations = ["v1.customers.list", "v1.contactGroups.list"];

  // The items are found by their name wherever the end is shown, so one name stands for the others here.
  describe.each(wrappings.slice(0, 4))("%s", (_, wrap) => {
    test.each(Object.entries(withTotal))("with %s, in exactly its pages", async (__, hints) => {
      for (const [index, count] of counts.entries()) {
        const read = await readAll({
          count,
          size: 100,
          // Both read their pages in the same way.
          operation: operations[index % 2],
          respond: (page) => wrap(page.items, hints(page)),
        });
        expect(read.items).toEqual(upTo(count - 1, 0).map(idOf));
        expect(read.requested).toEqual(upTo(Math.max(1, Math.ceil(count / 100))));
      }
    });

    test.each(Object.entries(withoutTotal))(
      "with %s, where a full last page needs one more request",
      async (__, hints) => {
        for (const count of counts) {
          const read = await readAll({
            count,
            size: 100,
            respond: (page) => wrap(page.items, hints(page)),
          });
          expect(read.items).toEqual(upTo(count - 1, 0).map(idOf));
          expect(read.requested).toEqual(upTo(Math.floor(count / 100) + 1));
        }
      },
    );
  });

  test.each(wrappings.slice(4))("%s, with total, in exactly its pages", async (_, wrap) => {
    const read = await readAll({
      count: 201,
      size: 100,
      respond: ({ items, total }) => wrap(items, { total }),
    });
    expect(read.items).toEqual(upTo(200, 0).map(idOf));
    expect(read.requested).toEqual([1, 2, 3]);
  });

  test("as a bare array, where a full last page needs one more request", async () => {
    for (const count of counts) {
      const read = await readAll({ count, size: 100, respond: ({ items }) => items });
      expect(read.items).toEqual(upTo(count - 1, 0).map(idOf));
      expect(read.requested).toEqual(upTo(Math.floor(count / 100) + 1));
    }
  });

  const anyWrapping = fc.constantFrom(...wrappings.map(([, wrap]) => wrap));
  const anyItem = fc.constantFrom(flat, resource, envelope);

  test("for any shape, length, server page size, start and read-ahead, where the response shows the end", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          wrap: anyWrapping,
          item: anyItem,
          hints: fc.constantFrom(...Object.entries(withTotal)),
          count: fc.nat(330),
          size: fc.integer({ min: 3, max: 100 }),
          readAhead: fc.nat(3),
          startShare: fc.double({ min: 0, max: 1, noNaN: true }),
        }),
        async ({ wrap, item, hints: [name, hints], count, size, readAhead, startShare }) => {
          const pages = Math.max(1, Math.ceil(count / size));
          // A total shows the end of a list, but not the position of a page in the middle if the server has reduced the page size.
          const start = name === "total" ? 1 : 1 + Math.floor(startShare * (pages - 1));
          const read = await readAll({
            count,
            size,
            item,
            readAhead,
            start,
            respond: (page) => wrap(page.items, hints(page)),
          });
          expect(read.items).toEqual(upTo(count - 1, (start - 1) * size).map(idOf));
          expect(read.requested).toEqual(upTo(pages, start));
        },
      ),
      runs(300),
    );
  });
});

describe("every list of v2 is yielded once, in order", () => {
  test("with any of the totals, and any page size of the service", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          count: fc.nat(120),
          size: fc.integer({ min: 1, max: 30 }),
          limit: fc.option(fc.integer({ min: 1, max: 40 }), { nil: undefined }),
          keys: fc.subarray(["current_page", "total_pages", "total_items", "items_per_page"]),
          readAhead: fc.nat(3),
        }),
        async ({ count, size: set, limit, keys, readAhead }) => {
          const size = limit ?? set;
          const requested: number[] = [];
          const fetch: Fetch = async (url) => {
            const page = Number(new URL(url).searchParams.get("page") ?? 1);
            requested.push(page);
            const lists = upTo(count - 1, 0)
              .slice((page - 1) * size, page * size)
              .map((at) => ({ uuid: idOf(at) }));
            const totals = {
              current_page: page,
              total_pages: Math.ceil(count / size),
              total_items: count,
              items_per_page: size,
            };
            const shown = Object.entries(totals).filter(([key]) => keys.includes(key));
            return Response.json({ data: { lists, ...Object.fromEntries(shown) } });
          };
          const { v2 } = new AudienceClient({ ...offline, fetch });
          const lists = await v2.lists.list({ limit }, { readAhead }).toArray();
          expect(lists.map(({ uuid }) => uuid)).toEqual(upTo(count - 1, 0).map(idOf));
          const hasTotal = keys.includes("total_pages") || keys.includes("total_items");
          const pages = Math.max(1, Math.ceil(count / size));
          expect(requested.length).toBeGreaterThanOrEqual(pages);
          expect(requested.length).toBeLessThanOrEqual(hasTotal ? pages : pages + 1);
          expect(requested).toEqual(upTo(requested.length));
        },
      ),
      runs(300),
    );
  });
});

describe("a list with empty pages", () => {
  const totals = fc.subarray(["totalItems", "totalPages", "hasNextPage"], { minLength: 1 });

  /** Reads pages of these lengths. */
  async function readLengths(lengths: readonly number[], keys: readonly string[]) {
    const requested: number[] = [];
    const starts = lengths.map((_, at) => lengths.slice(0, at).reduce((sum, length) => sum + length, 0));
    const count = lengths.reduce((sum, length) => sum + length, 0);
    const paginator = paginatorOf({
      page: 1,
      limit: 5,
      options: () => ({ readAhead: 0 }),
      load: async (page = 1) => {
        requested.push(page);
        const start = starts[page - 1] ?? 0;
        const items = upTo(start + (lengths[page - 1] ?? 0) - 1, start).map((at) => ({ id: idOf(at) }));
        const hints = {
          totalItems: count,
          totalPages: lengths.length,
          hasNextPage: page < lengths.length,
        };
        const given = Object.entries(hints).filter(([key]) => keys.includes(key));
        return { items, raw: undefined, ...Object.fromEntries(given) };
      },
      identify: ({ id }) => id,
    });
    const items = (await paginator.toArray()).map(({ id }) => id);
    return { items, all: upTo(count - 1, 0).map(idOf), requested: requested.length };
  }

  test("one by one before the last items is read to its end, and in exactly its pages", async () => {
    const lengths = fc
      .array(fc.tuple(fc.integer({ min: 1, max: 5 }), fc.boolean()), { minLength: 1, maxLength: 20 })
      .map((pages) => pages.flatMap(([length, isAfterEmpty]) => (isAfterEmpty ? [0, length] : [length])));
    await fc.assert(
      fc.asyncProperty(lengths, totals, async (pages, keys) => {
        const { items, all, requested } = await readLengths(pages, keys);
        expect(items).toEqual(all);
        expect(requested).toBe(pages.length);
      }),
      runs(300),
    );
  });
});

describe("a list with contradicting hints", () => {
  test("always ends, with every item that it has shown or with an error", async () => {
    const nothing = {
      from: 0,
      length: 0,
      totalItems: undefined,
      totalPages: undefined,
      hasNextPage: undefined,
    };
    const page = fc.record({
      from: fc.nat(20),
      length: fc.nat(5),
      totalItems: fc.option(fc.nat(60), { nil: undefined }),
      totalPages: fc.option(fc.nat(12), { nil: undefined }),
      hasNextPage: fc.option(fc.boolean(), { nil: undefined }),
    });
    await fc.assert(
      fc.asyncProperty(
        // The pages repeat without end.
        fc.array(page, { minLength: 1, maxLength: 6 }),
        fc.nat(2),
        fc.integer({ min: 1, max: 3 }),
        async (pages, readAhead, start) => {
          const shown: string[][] = [];
          const paginator = paginatorOf({
            page: start,
            limit: 5,
            options: () => ({ readAhead }),
            load: async (number = 1) => {
              expect(shown.length, "an endless loop").toBeLessThan(200);
              const { from, length, ...optionalHints } = pages[number % pages.length] ?? nothing;
              const items = upTo(from + length - 1, from).map((at) => ({ id: idOf(at) }));
              shown.push(items.map(({ id }) => id));
              const hints = Object.fromEntries(
                Object.entries(optionalHints).filter(([, value]) => value !== undefined),
              );
              return { items, raw: number, ...hints };
            },
            identify: ({ id }) => id,
          });
          const received: string[][] = [];
          try {
            for await (const { items } of paginator.pages()) received.push(items.map(({ id }) => id));
          } catch (error) {
            expect(error).toBeInstanceOf(UnexpectedResponseError);
          }
          received.forEach((ids, at) => {
            const before = new Set(shown.slice(0, at).flat());
            expect(ids).toEqual(shown[at]?.filter((id) => !before.has(id)));
          });
        },
      ),
      runs(1_000),
    );
  });
});
