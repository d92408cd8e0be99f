import { describe, expect, test } from "vitest";
import { UnexpectedResponseError } from "../../src/errors.ts";
import {
  collect,
  errorOf,
  ids,
  items,
  fakeListOf,
  fakeList,
  type Hints,
  type Item,
  type Options,
} from "./fake-list.ts";

/** Reads a list to its end; `requested` contains the requested pages. */
async function readAll(list: ReturnType<typeof fakeList>) {
  const all = await collect(list.paginator);
  return { all, requested: list.log.map((line) => Number.parseInt(line, 10)) };
}

/** A list of `count` items in pages of `size`, with hints in its responses. */
function listOfSize(
  count: number,
  size: number,
  hints: (page: number) => Hints = () => ({}),
  options: Options = {},
) {
  return fakeList(
    (page) => ({ ...hints(page), items: items((page - 1) * size, Math.min(count, page * size)) }),
    options,
  );
}

const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, at) => first + at);

describe("a list without any hint", () => {
  test.each([
    [0, [1]],
    [1, [1]],
    [99, [1]],
    [100, [1, 2]],
    [101, [1, 2]],
    [1_000, upTo(11)],
  ])(
    "of %i items ends at a page shorter than the limit; a full last page needs one more request",
    async (count, requested) => {
      expect(await readAll(listOfSize(count, 100))).toEqual({ all: items(0, count), requested });
    },
  );

  test("of unknown page size ends at an empty page", async () => {
    const list = listOfSize(25, 10, undefined, { limit: undefined });
    expect(await readAll(list)).toEqual({ all: items(0, 25), requested: [1, 2, 3, 4] });
  });

  test("uses the page size of the response where it is smaller than the limit", async () => {
    expect(await readAll(listOfSize(120, 50, () => ({ limit: 50 })))).toEqual({
      all: items(0, 120),
      requested: [1, 2, 3],
    });
  });

  test("uses the page size 100 where the response echoes a limit over 100", async () => {
    const list = listOfSize(150, 100, () => ({ limit: 250 }), { limit: 100 });
    expect(await readAll(list)).toEqual({ all: items(0, 150), requested: [1, 2] });
  });
});

describe("a known total needs exactly its pages", () => {
  const counts = [0, 1, 99, 100, 101, 1_000];
  test.each(counts)("as total items, of %i", async (count) => {
    const { all, requested } = await readAll(listOfSize(count, 100, () => ({ totalItems: count })));
    expect(all).toEqual(items(0, count));
    expect(requested).toEqual(upTo(Math.max(1, Math.ceil(count / 100))));
  });

  test.each(counts)("as total pages, of %i items", async (count) => {
    const pages = Math.ceil(count / 100);
    const { all, requested } = await readAll(listOfSize(count, 100, () => ({ totalPages: pages })));
    expect(all).toEqual(items(0, count));
    expect(requested).toEqual(upTo(Math.max(1, pages)));
  });

  test.each(counts)("as a flag or link, of %i items", async (count) => {
    const pages = Math.max(1, Math.ceil(count / 100));
    const { all, requested } = await readAll(
      listOfSize(count, 100, (page) => ({ hasNextPage: page < pages })),
    );
    expect(all).toEqual(items(0, count));
    expect(requested).toEqual(upTo(pages));
  });

  test("from a page in the middle on", async () => {
    const list = listOfSize(450, 100, () => ({ totalItems: 450 }), { page: 3 });
    expect(await readAll(list)).toEqual({ all: items(200, 450), requested: [3, 4, 5] });
  });

  test("from the last page on, and from a page after it", async () => {
    expect((await readAll(listOfSize(450, 100, () => ({ totalItems: 450 }), { page: 5 }))).requested).toEqual(
      [5],
    );
    expect(await readAll(listOfSize(450, 100, () => ({ totalItems: 450 }), { page: 9 }))).toEqual({
      all: [],
      requested: [9],
    });
  });
});

describe("a page of the server's own smaller size does not end the list", () => {
  const size = 50;
  test("where the total items indicate more", async () => {
    expect(await readAll(listOfSize(120, size, () => ({ totalItems: 120 })))).toEqual({
      all: items(0, 120),
      requested: [1, 2, 3],
    });
  });

  test("where the total items indicate more and the response echoes the requested limit", async () => {
    const list = listOfSize(120, size, () => ({ totalItems: 120, limit: 100 }));
    expect(await readAll(list)).toEqual({ all: items(0, 120), requested: [1, 2, 3] });
  });

  test("where it is by chance as long as the last page", async () => {
    const list = listOfSize(120, 20, () => ({ totalItems: 120 }));
    expect(await readAll(list)).toEqual({ all: items(0, 120), requested: upTo(6) });
  });

  test("where the total pages indicate more", async () => {
    expect((await readAll(listOfSize(120, size, () => ({ totalPages: 3 })))).all).toEqual(items(0, 120));
  });

  test("where a link indicates more", async () => {
    expect((await readAll(listOfSize(120, size, (page) => ({ hasNextPage: page < 3 })))).all).toEqual(
      items(0, 120),
    );
  });

  test("where the iteration begins in the middle", async () => {
    const list = listOfSize(45, 10, () => ({ totalItems: 45 }), { page: 3, limit: 20 });
    expect(await readAll(list)).toEqual({ all: items(20, 45), requested: [3, 4, 5] });
  });

  test("where the iteration begins at the last page: it ends after two empty pages, without an error", async () => {
    const list = listOfSize(95, 10, () => ({ totalItems: 95 }), { page: 10, limit: 20 });
    expect(await readAll(list)).toEqual({ all: items(90, 95), requested: [10, 11, 12] });
  });
});

describe("a total that appears only on a later page, in an iteration that begins in the middle,", () => {
  const late = (page: number, totalItems: number) => (page > 3 ? { totalItems } : {});

  test("counts the earlier pages by their limit, also over an empty page", async () => {
    const list = fakeList(
      (page) => ({ ...late(page, 100), items: page === 4 ? [] : items(page * 20 - 20, page * 20) }),
      { page: 3, limit: 20 },
    );
    expect((await readAll(list)).requested).toEqual([3, 4, 5, 6]);
  });

  test("continues after an empty page where the number of earlier items is a guess", async () => {
    const pages = [items(0, 10), items(10, 20), [], items(20, 30), items(30, 40)].map((page) => ({
      items: page,
      totalItems: 40,
    }));
    const list = fakeListOf(pages, { page: 2, limit: 20 });
    expect(await readAll(list)).toEqual({ all: items(10, 40), requested: [2, 3, 4, 5] });
  });

  test("counts the earlier pages as long as this page, where no page size is known", async () => {
    const list = listOfSize(45, 10, (page) => late(page, 45), {
      page: 3,
      limit: undefined,
    });
    expect(await readAll(list)).toEqual({ all: items(20, 45), requested: [3, 4, 5] });
  });
});

describe("from the last page on, with a reduced page size, no further page is requested", () => {
  test.each<[string, Hints]>([
    ["the total pages indicate the end", { totalItems: 95, totalPages: 10 }],
    ["the flag indicates the end", { totalItems: 95, hasNextPage: false }],
  ])("where %s", async (_, hints) => {
    const list = listOfSize(95, 10, () => hints, { page: 10, limit: 20 });
    expect(await readAll(list)).toEqual({ all: items(90, 95), requested: [10] });
  });
});

describe("a response that contradicts itself loses no item", () => {
  test("a total below the number of items that have come counts no more", async () => {
    const list = listOfSize(250, 100, () => ({ totalItems: 150 }), { limit: 100 });
    expect(await readAll(list)).toEqual({ all: items(0, 250), requested: [1, 2, 3] });
  });

  test.each<[string, (page: number) => Hints]>([
    ["the flag indicates the end, the total items more", () => ({ hasNextPage: false, totalItems: 250 })],
    ["the flag indicates the end, the total pages more", () => ({ hasNextPage: false, totalPages: 3 })],
    ["the total pages indicate the end, the total items more", () => ({ totalPages: 1, totalItems: 250 })],
    ["the total items indicate the end, the total pages more", () => ({ totalPages: 3, totalItems: 100 })],
    [
      "the totals indicate the end, the flag more",
      (page) => ({ totalPages: 1, totalItems: 100, hasNextPage: page < 3 }),
    ],
    ["the total is less than one page", () => ({ totalItems: 10 })],
    ["the total pages are 0", () => ({ totalPages: 0 })],
    ["the page size is 0", () => ({ limit: 0 })],
  ])("%s", async (_, hints) => {
    expect(await readAll(listOfSize(250, 100, hints))).toEqual({ all: items(0, 250), requested: [1, 2, 3] });
  });

  test("an endless next link costs one request where the total is reached", async () => {
    const list = listOfSize(250, 100, () => ({ hasNextPage: true, totalItems: 250 }));
    expect(await readAll(list)).toEqual({ all: items(0, 250), requested: [1, 2, 3, 4] });
  });

  test("total pages for another page size cost two requests where the total items are reached", async () => {
    const list = listOfSize(250, 100, () => ({ totalPages: 25, totalItems: 250 }));
    expect(await readAll(list)).toEqual({ all: items(0, 250), requested: [1, 2, 3, 4, 5] });
  });

  test("total items of another list cost two requests where the total pages are reached, and no error", async () => {
    const list = listOfSize(250, 100, () => ({ totalPages: 3, totalItems: 9_000 }));
    expect(await readAll(list)).toEqual({ all: items(0, 250), requested: [1, 2, 3, 4, 5] });
  });
});

describe("an empty page in the middle", () => {
  const holed = [items(0, 100), [], items(200, 300)];
  const listWithHints = (hints: (page: number) => Hints) =>
    fakeList((page) => ({ ...hints(page), items: holed[page - 1] ?? [] }));

  const bothEnds = [...items(0, 100), ...items(200, 300)];

  test.each<[string, (page: number) => Hints]>([
    ["total items", () => ({ totalItems: 200 })],
    ["total pages", () => ({ totalPages: 3 })],
    ["both", () => ({ totalItems: 200, totalPages: 3 })],
    ["both, for pages without a gap", () => ({ totalItems: 200, totalPages: 2 })],
    [
      "a total, although the flag indicates the end",
      (page) => ({ totalItems: 200, hasNextPage: page === 1 }),
    ],
    ["a next link", (page) => ({ hasNextPage: page < 3 })],
  ])("does not end a loop where there is %s", async (_, hints) => {
    expect(await readAll(listWithHints(hints))).toEqual({ all: bothEnds, requested: [1, 2, 3] });
  });

  test.each<[string, (page: number) => Hints]>([
    ["total items", () => ({ totalItems: 300 })],
    ["both totals", () => ({ totalItems: 300, totalPages: 3 })],
    ["a total, and a flag for the end,", (page) => ({ totalItems: 300, hasNextPage: page === 1 })],
  ])("counts as hidden items where %s are not reached after two empty pages", async (_, hints) => {
    expect(await readAll(listWithHints(hints))).toEqual({ all: bothEnds, requested: [1, 2, 3, 4, 5] });
  });

  test("ends a loop without an error where the total counts hidden items of many pages", async () => {
    const half = (page: number) => (page > 10 ? [] : items(page * 50, page * 50 + 50));
    const list = fakeList((page) => ({ items: half(page), totalItems: 1_000, limit: 100 }));
    expect(await readAll(list)).toEqual({ all: items(50, 550), requested: upTo(12) });
  });

  test("does not end a loop whose server has a smaller page size of its own", async () => {
    const list = fakeList((page) => ({
      items: page === 3 ? [] : items(page * 50, page * 50 + 50),
      totalItems: 300,
    }));
    expect((await readAll(list)).requested).toEqual(upTo(7));
  });

  test("does not end a loop that began in the middle or at this page", async () => {
    const list = (page: number) =>
      fakeList((at) => ({ items: at === 3 ? [] : items(at * 100, at * 100 + 100), totalItems: 500 }), {
        page,
      });
    expect((await readAll(list(2))).requested).toEqual([2, 3, 4, 5, 6]);
    expect((await readAll(list(3))).requested).toEqual([3, 4, 5, 6]);
  });

  test("is passed where the loop begins with it", async () => {
    const list = fakeList((page) => ({ items: page === 2 ? items(0, 100) : [], totalItems: 200 }));
    expect(await readAll(list)).toEqual({ all: items(0, 100), requested: [1, 2, 3, 4] });
  });

  test("is passed where no page size is known", async () => {
    const list = fakeList((page) => ({ items: page === 1 ? [] : items(page, page + 1), totalItems: 2 }), {
      limit: undefined,
    });
    expect(await readAll(list)).toEqual({ all: items(2, 4), requested: [1, 2, 3] });
  });

  test("ends a loop where the total indicates it, despite a next link", async () => {
    expect(
      (await readAll(fakeList(() => ({ items: [], totalPages: 0, hasNextPage: true })))).requested,
    ).toEqual([1]);
  });

  test("does not reset the known items of the page before it", async () => {
    const pages = [items(0, 100), [], items(70, 170)].map((page) => ({ items: page, totalItems: 200 }));
    expect((await readAll(fakeListOf(pages))).all).toEqual(items(0, 170));
  });

  test("is no page that repeats, however often one comes between pages with items", async () => {
    const list = fakeList((page) => ({
      items: page > 1 && page % 2 === 1 ? [] : items(page * 100, page * 100 + 100),
      totalPages: 8,
    }));
    expect((await readAll(list)).requested).toEqual(upTo(8));
  });

  test("ends a loop without hints of more", async () => {
    expect((await readAll(fakeListOf(holed))).requested).toEqual([1, 2]);
  });

  test("two in a row end the loop with an error", async () => {
    const { paginator, log } = fakeList((page) => ({
      items: page === 1 ? items(0, 100) : [],
      totalItems: 900,
      raw: page,
    }));
    const error = await errorOf(collect(paginator));
    expect(error).toBeInstanceOf(UnexpectedResponseError);
    expect(error).toMatchObject({ outcome: "not-applied", status: 200, body: 3 });
    expect(log).toEqual(["1", "2 ahead", "3 ahead"]);
  });
});

describe("a repeated page", () => {
  const same = { items: items(0, 100) };

  test.each<[string, Hints]>([
    ["without a hint", {}],
    ["with a total", { totalItems: 1_000 }],
    ["with a total that its items would reach if each counted", { totalItems: 200 }],
    ["with total pages", { totalPages: 2 }],
    ["with a link", { hasNextPage: true }],
  ])("%s yields its items once and ends in an error", async (_, hints) => {
    const { paginator, log } = fakeList(() => ({ ...same, ...hints }));
    const seen: Item[] = [];
    const error = await errorOf(
      (async () => {
        for await (const item of paginator) seen.push(item);
      })(),
    );
    expect(error).toBeInstanceOf(UnexpectedResponseError);
    expect(String(error)).toContain("page 3 repeats items of earlier pages");
    expect(seen).toEqual(same.items);
    expect(log).toEqual(["1", "2 ahead", "3 ahead"]);
  });

  test("is recognized in another order", async () => {
    const { paginator, log } = fakeList((page) => ({
      items: page % 2 ? items(0, 100) : items(0, 100).toReversed(),
      totalItems: 200,
    }));
    expect(await errorOf(collect(paginator))).toBeInstanceOf(UnexpectedResponseError);
    expect(log).toEqual(["1", "2 ahead", "3 ahead"]);
  });

  test("is distinguished from items that a growing list has shifted to the next page", async () => {
    const pages = [items(0, 100), items(100, 200), items(170, 200), items(199, 200)];
    expect(await readAll(fakeListOf(pages))).toEqual({ all: items(0, 200), requested: [1, 2, 3] });
  });

  test("is recognized by nextPage() too", async () => {
    const first = await fakeList(() => same).paginator;
    const second = await first.nextPage();
    expect(second).toMatchObject({ items: [], hasNextPage: true });
    expect(await errorOf(second.nextPage())).toBeInstanceOf(UnexpectedResponseError);
  });

  test.each([
    [2, 5],
    [3, 7],
    [7, 15],
  ])(
    "in a cycle of %i pages ends in an error after %i, never in an endless loop",
    async (circle, requested) => {
      const { paginator, log } = fakeList((page) =>
        items((page % circle) * 100, (page % circle) * 100 + 100),
      );
      const error = await errorOf(collect(paginator));
      expect(error).toBeInstanceOf(UnexpectedResponseError);
      expect(String(error)).toMatch(/page \d+ repeats items of earlier pages/);
      expect(log).toHaveLength(requested);
    },
  );

  test("is skipped once, when the list has grown by a page", async () => {
    const pages = [items(0, 100), items(0, 100), items(100, 130)];
    expect(await readAll(fakeListOf(pages))).toEqual({ all: items(0, 130), requested: [1, 2, 3] });
  });
});

describe("a list that changes during the iteration", () => {
  test("does not yield items of the previous page twice when it grows at its head", async () => {
    let head = 0;
    const list = fakeList((page) => {
      head -= 30;
      const start = head + 30 + (page - 1) * 100;
      return { items: items(start, Math.min(250, start + 100)), totalItems: 250 - head - 30 };
    });
    const { all } = await readAll(list);
    expect(all).toEqual(items(0, 250));
    expect(new Set(ids(all)).size).toBe(250);
  });

  test("ends without an error where it shrinks", async () => {
    const list = fakeList((page) => ({
      items: page === 1 ? items(0, 100) : items(page * 100 - 50, Math.min(250, page * 100 + 50)),
      totalItems: page === 1 ? 300 : 250,
    }));
    expect((await readAll(list)).requested).toEqual([1, 2, 3, 4]);
  });

  test("ends where it shrinks to fewer items than were read", async () => {
    const list = fakeList((page) => ({
      items: page === 1 ? items(0, 100) : [],
      totalItems: page === 1 ? 300 : 80,
    }));
    expect(await readAll(list)).toEqual({ all: items(0, 100), requested: [1, 2] });
  });

  test("ends where a total is outdated", async () => {
    const list = listOfSize(250, 100, () => ({ totalItems: 310 }));
    expect(await readAll(list)).toEqual({ all: items(0, 250), requested: [1, 2, 3, 4, 5] });
  });

  test("compares pages by their first and last items", async () => {
    const [same, other] = [{ id: "same" }, (page: number) => ({ id: String(page) })];
    const sameHead = fakeList((page) => (page < 12 ? [same, other(page), other(-page)] : []), {
      limit: 3,
    });
    const sameTail = fakeList((page) => (page < 12 ? [other(page), other(-page), same] : []), {
      limit: 3,
    });
    const sameBeginning = fakeList((page) => (page < 12 ? [same, { id: "too" }, other(page)] : []), {
      limit: 3,
    });
    expect((await readAll(sameBeginning)).requested).toEqual(upTo(12));
    expect((await readAll(sameHead)).requested).toEqual(upTo(12));
    expect((await readAll(sameTail)).requested).toEqual(upTo(12));
  });
});
