import { AudienceClient, type Fetch } from "audience-sdk";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { UnexpectedResponseError } from "../../src/errors.ts";
import { paginatorOf } from "../pagination/fake-list.ts";
import { offline } from "../transport/fixture.ts";
import { runs } from "./runs.ts";

const idOf = (at: number) => `c${at}`;

const upTo = (last: number, first = 1) =>
  Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => first + at);

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
