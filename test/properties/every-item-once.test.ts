import { AudienceClient, UnexpectedResponseError, type Fetch } from "audience-sdk";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { offline } from "../transport/fixture.ts";
import { runs } from "./runs.ts";

const idOf = (at: number) => `c${at}`;

const upTo = (last: number, first = 1) =>
  Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => first + at);

/** A page, as a server sees it. */
interface Served {
  page: number;
  /** The size of its pages. */
  size: number;
  total: number;
  hasNext: boolean;
}

const key = fc.oneof(
  fc.constantFrom(
    "customers",
    "contacts",
    "items",
    "results",
    "people",
    "list",
    "Abonnenten",
    "page_items",
    "rows",
  ),
  fc.stringMatching(/^[a-z]{3,8}_x$/),
);

type Body = (items: unknown[], info: object) => unknown;

/** The shapes that are understood; a bare array has no room for the info. */
const shape: fc.Arbitrary<Body> = fc.oneof(
  fc.constant<Body>((data, info) => ({ data, ...info })),
  key.map((name): Body => (items, info) => ({ data: { [name]: items, ...info } })),
  key.map((name): Body => (items, info) => ({ success: true, ...info, data: { [name]: items } })),
  key.map((name): Body => (items, info) => ({ [name]: items, ...info, errors: [] })),
);

const item: fc.Arbitrary<(id: string) => unknown> = fc.constantFrom(
  (id) => ({ id, email: `${id}@example.com`, tags: [{ id: "t" }] }),
  (id) => ({ type: "profile", id, attributes: { email: `${id}@example.com` } }),
  (id) => ({ data: { type: "profile", id, attributes: {} }, links: { self: `/${id}` } }),
);

type Info = (served: Served) => object;

const holder = fc.constantFrom<(info: object) => object>(
  (info) => info,
  (info) => ({ meta: info }),
  (info) => ({ pagination: info }),
  (info) => ({ page: info }),
  (info) => ({ meta: { pagination: info } }),
);
const link = fc.constantFrom<(page: number) => unknown>(
  (page) => `https://api.example.com/api/v1/customer?page=${page}`,
  (page) => `?page=${page}`,
  (page) => ({ href: `/api/v1/customer?page=${page}` }),
);

/** As JSON:API allows, it has no link to a next page at the end. */
const omitsNext: Info = ({ page, hasNext }) => ({
  links: { first: "?page=1", ...(hasNext && { next: `?page=${page + 1}` }) },
});

/** What tells whether there is a next page, also from a server whose pages are smaller than the limit. */
const told: fc.Arbitrary<Info> = fc.oneof(
  link.map((to): Info => ({ page, hasNext }) => ({
    links: { self: to(page), next: hasNext ? to(page + 1) : null },
  })),
  fc.constant(omitsNext),
  fc.tuple(holder, fc.constantFrom("next_page_url", "next", "nextPage")).map(
    ([hold, name]): Info =>
      ({ page, hasNext }) =>
        hold({ [name]: hasNext ? `${page + 1}` : null }),
  ),
  fc.tuple(holder, fc.constantFrom("has_more", "hasNext", "hasNextPage")).map(
    ([hold, name]): Info =>
      ({ hasNext }) =>
        hold({ [name]: hasNext }),
  ),
  fc
    .tuple(
      holder,
      fc.constantFrom("total", "total_items", "totalCount", "totalElements"),
      fc.constantFrom(Number, String),
    )
    .map(
      ([hold, name, as]): Info =>
        ({ total }) =>
          hold({ [name]: as(total) }),
    ),
  fc.tuple(holder, fc.constantFrom("total_pages", "totalPages", "last_page")).map(
    ([hold, name]): Info =>
      ({ total, size, page }) =>
        hold({ [name]: Math.ceil(total / size), current: page }),
  ),
  holder.map(
    (hold): Info =>
      ({ total, size, page }) =>
        hold({ total, pages: Math.ceil(total / size), page, per_page: size }),
  ),
);

const untold: Info = () => ({});

/** Where nothing tells it, pages are as long as the limit. */
const list = fc.oneof(
  { weight: 4, arbitrary: fc.record({ body: shape, info: told, sizeShare: fc.constantFrom(1, 1, 0.5) }) },
  {
    weight: 1,
    arbitrary: fc.record({ body: shape, info: fc.constant(untold), sizeShare: fc.constant(1) }),
  },
  {
    weight: 1,
    arbitrary: fc.constant({ body: (items: unknown[]) => items, info: untold, sizeShare: 1 }),
  },
);

/** What happens to the list before a page: fewer than a page of items are added, some are deleted. */
const change = fc.record({
  added: fc.nat(9),
  deleted: fc.oneof({ weight: 2, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(6) }),
  at: fc.double({ min: 0, max: 1, noNaN: true }),
});

const scenario = fc.record({
  list,
  item,
  count: fc.nat(75),
  limit: fc.constantFrom(10, 20),
  changes: fc.oneof(
    { weight: 1, arbitrary: fc.constant([]) },
    { weight: 2, arbitrary: fc.array(change, { maxLength: 6 }) },
  ),
  readAhead: fc.nat(2),
  startShare: fc.double({ min: 0, max: 0.99, noNaN: true }),
});

it("Every item comes once from any v1 list of the named shapes; where it changes, no item comes twice, and none is missed but where others are deleted", async () => {
  await fc.assert(
    fc.asyncProperty(
      scenario,
      async ({
        list: { body, info, sizeShare },
        item: itemOf,
        count,
        limit,
        changes,
        readAhead,
        startShare,
      }) => {
        const size = limit * sizeShare;
        const pages = Math.max(1, Math.ceil(count / size));
        const isStill = changes.length === 0;
        // In the middle of a list only pages of the size that was asked for tell how far it is.
        const start = isStill && sizeShare === 1 ? 1 + Math.floor(startShare * pages) : 1;
        let ids = Array.from({ length: count }, (_, at) => `c${at}`);
        const first = ids;
        let [requests, deletions, longest] = [0, 0, count];
        const fetch: Fetch = async (url) => {
          const page = Number(new URL(url).searchParams.get("page") ?? 1);
          const { added, deleted, at } = changes[requests - 1] ?? { added: 0, deleted: 0, at: 0 };
          requests += 1;
          const from = Math.floor(at * ids.length);
          const gone = ids.slice(from, from + deleted);
          const fresh = Array.from(
            { length: Math.min(added, size - 1) },
            (_, number) => `new${requests}-${number}`,
          );
          ids = [...ids.slice(0, from), ...fresh, ...ids.slice(from + gone.length)];
          deletions += gone.length;
          longest = Math.max(longest, ids.length);
          const here = ids.slice((page - 1) * size, page * size);
          const served = { page, size, total: ids.length, hasNext: page * size < ids.length };
          return Response.json(body(here.map(itemOf), info(served)));
        };
        const { v1 } = new AudienceClient({ ...offline, fetch });
        const profiles = await v1.customers.list({ page: start, limit }, { readAhead }).toArray();
        const received = profiles.map(({ id }) => id);

        expect(new Set(received).size).toBe(received.length);
        if (isStill) {
          expect(received).toEqual(first.slice((start - 1) * size));
          // Where nothing tells the end, a full last page needs one more call.
          const isUntold = info === untold || (info === omitsNext && sizeShare === 1);
          const last = isUntold ? Math.floor(count / size) + 1 : pages;
          expect(requests).toBe(last - start + 1);
          return;
        }
        const missed = first.filter((id) => ids.includes(id) && !received.includes(id));
        expect(missed.length).toBeLessThanOrEqual(deletions);
        expect(requests).toBeLessThanOrEqual(Math.ceil(longest / size) + 2);
      },
    ),
    runs(10_000, 120),
  );
});

describe("A v1 list", () => {
  /** What a page may tell, beside its items. */
  const totals = ["total", "total_pages", "has_more"] as const;
  type Told = Partial<Record<(typeof totals)[number], number | boolean | undefined>>;

  const listing = (pageOf: (page: number) => { ids: readonly string[]; told: Told }) => {
    const shown: string[][] = [];
    const fetch: Fetch = async (url) => {
      expect(shown.length, "an endless loop").toBeLessThan(200);
      const { ids, told: meta } = pageOf(Number(new URL(url).searchParams.get("page") ?? 1));
      shown.push([...ids]);
      return Response.json({ data: ids.map((id) => ({ id })), meta });
    };
    return { shown, customers: new AudienceClient({ ...offline, fetch }).v1.customers };
  };

  it("with empty pages, one by one before the last items, is read to its end, and in exactly its pages", async () => {
    const lengths = fc
      .array(fc.tuple(fc.integer({ min: 1, max: 5 }), fc.boolean()), { minLength: 1, maxLength: 20 })
      .map((pages) => pages.flatMap(([length, isAfterEmpty]) => (isAfterEmpty ? [0, length] : [length])));
    await fc.assert(
      fc.asyncProperty(lengths, fc.subarray([...totals], { minLength: 1 }), async (pages, keys) => {
        const count = pages.reduce((sum, length) => sum + length, 0);
        const { shown, customers } = listing((page) => {
          const start = pages.slice(0, page - 1).reduce((sum, length) => sum + length, 0);
          const ids = upTo(start + (pages[page - 1] ?? 0) - 1, start).map(idOf);
          const all = { total: count, total_pages: pages.length, has_more: page < pages.length };
          return { ids, told: Object.fromEntries(keys.map((name) => [name, all[name]])) };
        });

        const profiles = await customers.list({ limit: 5 }).toArray();

        expect(profiles.map(({ id }) => id)).toEqual(upTo(count - 1, 0).map(idOf));
        expect(shown).toHaveLength(pages.length);
      }),
      runs(300),
    );
  });

  it("with contradicting totals always ends, with every item that it has shown or with an error", async () => {
    const page = fc.record({
      from: fc.nat(20),
      length: fc.nat(5),
      total: fc.option(fc.nat(60), { nil: undefined }),
      total_pages: fc.option(fc.nat(12), { nil: undefined }),
      has_more: fc.option(fc.boolean(), { nil: undefined }),
    });
    await fc.assert(
      fc.asyncProperty(
        // The pages repeat without end.
        fc.array(page, { minLength: 1, maxLength: 6 }),
        fc.nat(2),
        fc.integer({ min: 1, max: 3 }),
        async (pages, readAhead, start) => {
          const { shown, customers } = listing((number) => {
            const { from, length, ...others } = pages[number % pages.length]!;
            return { ids: upTo(from + length - 1, from).map(idOf), told: others };
          });
          const received: string[][] = [];
          try {
            for await (const { items } of customers.list({ page: start, limit: 5 }, { readAhead }).pages())
              received.push(items.map(({ id }) => id));
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
