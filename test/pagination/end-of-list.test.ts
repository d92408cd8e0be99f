import { NotFoundError, UnexpectedResponseError } from "audience-sdk";
import { describe, expect, it } from "vitest";
import {
  collect,
  errorOf,
  type Hints,
  ids,
  type Item,
  items,
  servedList,
  unsizedList,
} from "./served-lists.ts";

/** Reads a list to its end or error; `requested` contains the requested pages. */
async function readAll({ paginator, log }: ReturnType<typeof servedList>) {
  const all: Item[] = [];
  let error: Error | undefined;
  try {
    for await (const item of paginator) all.push(item);
  } catch (thrown) {
    error = thrown as Error; // Safe: the package throws nothing else.
  }
  return { all, requested: log, ...(error !== undefined && { error }) };
}

const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, at) => first + at);

/** Pages with so many items each. */
function pagesOf(...lengths: number[]): Item[][] {
  let start = 0;
  return lengths.map((length) => items(start, (start += length)));
}

/** The pages of a list of `count` items. */
function pagesFor(count: number, size = 10): Item[][] {
  return upTo(Math.ceil(count / size)).map((page) => items((page - 1) * size, Math.min(count, page * size)));
}

/** What a service responds with for a page after the last one. */
type After = "an empty page" | "a 404" | "the last page";

/** A list of these pages, asked for with the limit 10. */
function listOf(
  pages: readonly (readonly Item[])[],
  hints: Hints | ((page: number) => Hints) = {},
  { after = "an empty page", page: first }: { after?: After; page?: number } = {},
) {
  const respond = (page: number) => {
    if (page > Math.max(1, pages.length) && after === "a 404")
      return new Response('{"detail":"no page"}', { status: 404 });
    const here = pages[page - 1] ?? (after === "the last page" ? pages.at(-1) : undefined) ?? [];
    return { ...(typeof hints === "function" ? hints(page) : hints), items: here };
  };
  return servedList(respond, { limit: 10, ...(first !== undefined && { page: first }) });
}

/** Each row: its pages, what they tell, what comes after them, and how many calls the list takes. */
type Row = [
  title: string,
  pages: readonly (readonly Item[])[],
  hints: Hints | ((page: number) => Hints),
  after: After,
  calls: number,
];

const counts = [0, 9, 10, 11, 100];

describe("every item comes once, in so many calls, and without an error", () => {
  it.each<Row>([
    // Nothing tells the end: a page shorter than the limit, or what follows a full one.
    ...[0, 1, 9].map((count): Row => [`${count} items`, pagesFor(count), {}, "a 404", 1]),
    ...(["an empty page", "a 404", "the last page"] as const).flatMap((after) => [
      ["10 items", pagesFor(10), {}, after, 2] satisfies Row,
      ["25 items", pagesFor(25), {}, after, 3] satisfies Row,
    ]),
    ["a smaller page size in the response", pagesFor(12, 5), { limit: 5 }, "a 404", 3],
    ["a larger page size in the response", pagesFor(15), { limit: 25 }, "a 404", 2],
    ["a page size of 0 in the response", pagesFor(15), { limit: 0 }, "a 404", 2],
    // A number, link or flag tells it.
    ...counts.flatMap((count): Row[] => {
      const pages = Math.max(1, Math.ceil(count / 10));
      return [
        [`a number of items: ${count}`, pagesFor(count), { totalItems: count }, "a 404", pages],
        [`a number of pages, of ${count} items`, pagesFor(count), { totalPages: pages }, "a 404", pages],
        [`a flag, of ${count}`, pagesFor(count), (page) => ({ hasNextPage: page < pages }), "a 404", pages],
      ];
    }),
    ["no pages, as their number", [], { totalPages: 0 }, "a 404", 1],
    // The service's own pages are smaller than asked for.
    ["smaller pages, a number of items", pagesFor(12, 5), { totalItems: 12 }, "a 404", 3],
    ["smaller pages, a number of pages", pagesFor(12, 5), { totalPages: 3 }, "a 404", 3],
    ["smaller pages, a flag", pagesFor(12, 5), (page) => ({ hasNextPage: page < 3 }), "a 404", 3],
    ["smaller pages, fewer items than one as asked for", pagesFor(8, 5), { totalItems: 8 }, "a 404", 2],
    // Of several the first of the rule counts.
    [
      "a flag before the numbers",
      pagesFor(10),
      { hasNextPage: false, totalItems: 25, totalPages: 3 },
      "a 404",
      1,
    ],
    ["a number of pages before one of items", pagesFor(25), { totalPages: 3, totalItems: 10 }, "a 404", 3],
    // A number that the list passes is wrong.
    ["a number of items below a page", pagesFor(25), { totalItems: 1 }, "a 404", 3],
    ["0 as the number of pages", pagesFor(25), { totalPages: 0 }, "a 404", 3],
    // An empty page in the middle.
    ["an empty page, a number of items", pagesOf(10, 0, 10), { totalItems: 20 }, "a 404", 3],
    ["an empty page, a flag", pagesOf(10, 0, 10), (page) => ({ hasNextPage: page < 3 }), "a 404", 3],
    ["several empty pages, one by one", pagesOf(0, 10, 0, 10, 0, 10), { totalItems: 30 }, "a 404", 6],
    // The number of items counts people who are not shown.
    ["hidden people, pages", pagesOf(9, 8, 7), { totalItems: 30, totalPages: 3 }, "an empty page", 3],
    [
      "hidden people, a flag",
      pagesOf(10, 10, 0),
      (page) => ({ hasNextPage: page < 3, totalItems: 31 }),
      "an empty page",
      4,
    ],
    ["hidden people, the number of items alone", pagesOf(9, 8, 7), { totalItems: 30 }, "an empty page", 5],
    ["hidden people, the number of items alone", pagesOf(9, 8, 7), { totalItems: 30 }, "a 404", 4],
    ["hidden people, the number of items alone", pagesOf(9, 8, 7), { totalItems: 30 }, "the last page", 5],
    ["hidden people, the number of items alone", pagesOf(9), { totalItems: 10 }, "a 404", 2],
    ...(["an empty page", "a 404", "the last page"] as const).map((after): Row => [
      "hidden people of a page after full ones",
      pagesFor(25),
      { totalItems: 28 },
      after,
      3,
    ]),
    [
      "hidden people of a page after full ones, a flag",
      pagesOf(10, 10, 5, 5),
      (page) => ({ totalItems: 28, hasNextPage: page < 4 }),
      "a 404",
      4,
    ],
    ["hidden people at the end of full pages", pagesFor(20), { totalItems: 31 }, "an empty page", 4],
    ["hidden people of many pages", pagesFor(25), { totalItems: 90 }, "an empty page", 9],
    [
      "hidden people of many pages after a page that is not full",
      pagesFor(25),
      { totalItems: 90 },
      "a 404",
      4,
    ],
    ["hidden people of many pages, pages", pagesFor(25), { totalPages: 9 }, "an empty page", 9],
    [
      "hidden people of many pages between",
      [...pagesOf(10, 0, 0, 0), items(10, 15)],
      { totalItems: 90 },
      "an empty page",
      9,
    ],
  ])("%s (%#)", async (_, pages, hints, after, calls) => {
    const list = listOf(pages, hints, { after });
    expect(await readAll(list)).toEqual({ all: pages.flat(), requested: upTo(calls) });
  });

  it.each<[page: number, number[]]>([
    [3, [3, 4, 5]],
    [5, [5]],
    [9, [9]],
  ])("from page %i on", async (page, requested) => {
    for (const hints of [{ totalItems: 45 }, { totalPages: 5 }, { totalItems: 45, totalPages: 5 }]) {
      const all = items((page - 1) * 10, 45);
      expect(await readAll(listOf(pagesFor(45), hints, { page }))).toEqual({ all, requested });
    }
  });

  it("from a page in the middle on, whose pages before count as full", async () => {
    const list = listOf(pagesFor(25), { totalItems: 28 }, { page: 3 });
    expect(await readAll(list)).toEqual({ all: items(20, 25), requested: [3] });
  });

  it.each<[string, (page: number) => Item[], Hints, expected: Item[], calls: number]>([
    ["up to an empty page", (page) => items((page - 1) * 10, Math.min(25, page * 10)), {}, items(0, 25), 4],
    [
      "past an empty page",
      (page) => (page === 1 ? [] : items(page, page + 1)),
      { totalItems: 2 },
      items(2, 4),
      3,
    ],
  ])("of unknown page size, %s", async (_, itemsOf, hints, expected, calls) => {
    const { paginator, log } = unsizedList((page) => ({ ...hints, items: itemsOf(page) }));
    expect((await collect(paginator)).map(({ uuid }) => uuid)).toEqual(ids(expected));
    expect(log).toHaveLength(calls);
  });

  it("and nextPage() gives a 404 after a full page as an empty last page", async () => {
    const first = await listOf(pagesFor(10), {}, { after: "a 404" }).paginator;
    expect(first.hasNextPage).toBe(true);
    expect(await first.nextPage()).toMatchObject({
      items: [],
      page: 2,
      hasNextPage: false,
      raw: { detail: "no page" },
    });
  });
});

it.each<[string, Hints, page: number]>([
  ["the page that a loop begins with", {}, 2],
  ["one that a flag tells of", { hasNextPage: true }, 1],
  ["one that the number of pages tells of", { totalPages: 2 }, 1],
  ["one that the number of items tells of after a full page", { totalItems: 11 }, 1],
])("a 404 is an error for %s", async (_, hints, page) => {
  const { all, error } = await readAll(listOf(pagesFor(10), hints, { after: "a 404", page }));
  expect(error).toBeInstanceOf(NotFoundError);
  expect(all).toEqual(page === 1 ? items(0, 10) : []);
});

describe("two pages running without a new item end a list with an error", () => {
  it("that says how to read on, where both are empty", async () => {
    const { all, requested, error } = await readAll(listOf(pagesFor(10), { hasNextPage: true }));
    expect(error).toMatchObject({ outcome: "not-applied", status: 200, body: { data: [], has_more: true } });
    expect(String(error)).toContain(
      "page 3 is empty, and page 2 held no new item, although the response says that the list goes on. To read on, begin at page 4.",
    );
    expect({ all, requested }).toEqual({ all: items(0, 10), requested: [1, 2, 3] });
  });

  const [forwards, backwards] = [items(0, 10), items(0, 10).toReversed()];
  const circle = (length: number) => (page: number) => items((page % length) * 10, (page % length) * 10 + 10);

  it.each<[string, (page: number) => readonly Item[], Hints, calls: number]>([
    [
      "empty pages of a total without end",
      (page) => (page === 1 ? forwards : []),
      { totalItems: 1e12 },
      1_002,
    ],
    ["the first page again and again", () => forwards, { totalItems: 100 }, 3],
    ["the first page again and again, half of a number of items", () => forwards, { totalItems: 20 }, 3],
    ["the first page again and again, with a number of pages", () => forwards, { totalPages: 5 }, 3],
    ["the first page again, half of a number of pages", () => forwards, { totalPages: 2 }, 2],
    ["a page in another order", (page) => (page % 2 ? forwards : backwards), { totalItems: 20 }, 3],
    ["a circle of 7 pages", circle(7), {}, 9],
    ["a circle of 2 pages, half of a number of items", circle(2), { totalItems: 40 }, 4],
  ])("%s", async (_, pageOf, hints, calls) => {
    const list = servedList((page) => ({ items: pageOf(page), ...hints }), { limit: 10 });
    const { all, requested, error } = await readAll(list);
    expect(error).toBeInstanceOf(UnexpectedResponseError);
    expect(requested).toEqual(upTo(calls));
    expect(new Set(ids(all)).size).toBe(all.length);
    expect(String(error)).toMatch(all.length > 10 || hints.totalItems === 100 ? /repeat pages/ : /page/);
  });

  it("with nextPage() too", async () => {
    const second = await (await servedList(() => ({ items: forwards, totalItems: 90 })).paginator).nextPage();
    expect(second).toMatchObject({ items: [], hasNextPage: true });
    expect(await errorOf(second.nextPage())).toBeInstanceOf(UnexpectedResponseError);
  });
});

describe("a list that changes during the iteration", () => {
  it.each<[string, Item[][], Hints | ((page: number) => Hints), count: number]>([
    [
      "gives no item twice that an empty page was between",
      [items(0, 100), [], items(70, 170)],
      { totalItems: 200 },
      170,
    ],
    [
      "goes on after a page of known items where a total is not reached, although a flag says that it ends",
      [items(0, 100), items(0, 100), items(100, 130)],
      (page) => ({ totalItems: 230, hasNextPage: page === 1 }),
      130,
    ],
    [
      "goes on after a page that comes twice as the list has grown by one, where a number says more",
      [items(0, 100), items(0, 100), items(100, 130)],
      { totalPages: 3 },
      130,
    ],
    ["ends at a short page of known items", [items(0, 100), items(100, 200), items(170, 200)], {}, 200],
    [
      "ends where it shrinks to fewer items than were read",
      [items(0, 100), []],
      (page) => ({ totalItems: page === 1 ? 300 : 80 }),
      100,
    ],
  ])("%s", async (_, pages, hints, count) => {
    const list = servedList((page) => ({
      ...(typeof hints === "function" ? hints(page) : hints),
      items: pages[page - 1] ?? [],
    }));
    expect(await readAll(list)).toEqual({ all: items(0, count), requested: upTo(pages.length) });
  });

  it("yields the items after a page anew in each iteration that begins there", async () => {
    let head = 0;
    const { paginator } = servedList((page) =>
      items((page - 1) * 100 - head, Math.min(page * 100 - head, 250)),
    );
    const first = await paginator;
    expect(await collect(first)).toEqual(items(0, 250));
    head = 30;
    expect(await collect(first)).toEqual(items(0, 250));
    expect((await first.nextPage()).items).toEqual(items(100, 170));
  });
});
