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

/** Reads a list to its end; `asked` holds the pages that this took. */
async function readAll(list: ReturnType<typeof fakeList>) {
  const all = await collect(list.paginator);
  return { all, requested: list.log.map((line) => Number.parseInt(line, 10)) };
}

/** A list of `count` items in pages of `size`, and what its answers say besides. */
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
    "of %i items ends at a page shorter than the limit; after a full one there is one request more",
    async (count, requested) => {
      expect(await readAll(listOfSize(count, 100))).toEqual({ all: items(0, count), requested });
    },
  );

  test("of which no page size is known ends at an empty page", async () => {
    const list = listOfSize(25, 10, undefined, { countedLimit: undefined, limit: undefined });
    expect(await readAll(list)).toEqual({ all: items(0, 25), requested: [1, 2, 3, 4] });
  });

  test("whose answer names a page size smaller than the limit goes by that", async () => {
    expect(await readAll(listOfSize(120, 50, () => ({ limit: 50 })))).toEqual({
      all: items(0, 120),
      requested: [1, 2, 3],
    });
  });

  test("whose answer only echoes a limit over 100 goes by 100", async () => {
    const list = listOfSize(150, 100, () => ({ limit: 250 }), { limit: 250, countedLimit: 100 });
    expect(await readAll(list)).toEqual({ all: items(0, 150), requested: [1, 2] });
  });
});

describe("a known total takes exactly its pages", () => {
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

  test("also from a page in the middle on", async () => {
    const list = listOfSize(450, 100, () => ({ totalItems: 450 }), { page: 3 });
    expect(await readAll(list)).toEqual({ all: items(200, 450), requested: [3, 4, 5] });
  });

  test("also from the last page on, and from one beyond it", async () => {
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
  test("where the total items say more", async () => {
    expect(await readAll(listOfSize(120, size, () => ({ totalItems: 120 })))).toEqual({
      all: items(0, 120),
      requested: [1, 2, 3],
    });
  });

  test("where the total items say more and the answer echoes the limit that was asked for", async () => {
    const list = listOfSize(120, size, () => ({ totalItems: 120, limit: 100 }));
    expect(await readAll(list)).toEqual({ all: items(0, 120), requested: [1, 2, 3] });
  });

  test("where its length is by chance what the last page would hold", async () => {
    const list = listOfSize(120, 20, () => ({ totalItems: 120 }));
    expect(await readAll(list)).toEqual({ all: items(0, 120), requested: upTo(6) });
  });

  test("where the total pages say more", async () => {
    expect((await readAll(listOfSize(120, size, () => ({ totalPages: 3 })))).all).toEqual(items(0, 120));
  });

  test("where a link says more", async () => {
    expect((await readAll(listOfSize(120, size, (page) => ({ hasNextPage: page < 3 })))).all).toEqual(
      items(0, 120),
    );
  });

  test("where the reading begins in the middle", async () => {
    const list = listOfSize(45, 10, () => ({ totalItems: 45 }), { page: 3, limit: 20, countedLimit: 20 });
    expect(await readAll(list)).toEqual({ all: items(20, 45), requested: [3, 4, 5] });
  });

  test("and begun at its last page, ends after one empty page instead of an error", async () => {
    const list = listOfSize(95, 10, () => ({ totalItems: 95 }), { page: 10, limit: 20, countedLimit: 20 });
    expect(await readAll(list)).toEqual({ all: items(90, 95), requested: [10, 11] });
  });
});

describe("a total that is told only later, in a reading that begins in the middle,", () => {
  const late = (page: number, totalItems: number) => (page > 3 ? { totalItems } : {});

  test("counts the pages before by their limit, also over an empty page", async () => {
    const list = fakeList(
      (page) => ({ ...late(page, 100), items: page === 4 ? [] : items(page * 20 - 20, page * 20) }),
      { page: 3, limit: 20, countedLimit: 20 },
    );
    expect((await readAll(list)).requested).toEqual([3, 4, 5]);
  });

  test("counts them as this one is, where no page size is known", async () => {
    const list = listOfSize(45, 10, (page) => late(page, 45), {
      page: 3,
      limit: undefined,
      countedLimit: undefined,
    });
    expect(await readAll(list)).toEqual({ all: items(20, 45), requested: [3, 4, 5] });
  });
});

describe("from the last page on, of a server that has cut the page size, no page is asked for", () => {
  test.each<[string, Hints]>([
    ["the total pages say end", { totalItems: 95, totalPages: 10 }],
    ["the flag says end", { totalItems: 95, hasNextPage: false }],
  ])("where %s", async (_, hints) => {
    const list = listOfSize(95, 10, () => hints, { page: 10, limit: 20, countedLimit: 20 });
    expect(await readAll(list)).toEqual({ all: items(90, 95), requested: [10] });
  });
});

describe("where an answer contradicts itself nothing is lost", () => {
  test.each<[string, (page: number) => Hints]>([
    ["the flag says end, the total items say more", () => ({ hasNextPage: false, totalItems: 250 })],
    ["the flag says end, the total pages say more", () => ({ hasNextPage: false, totalPages: 3 })],
    ["the total pages say end, the total items say more", () => ({ totalPages: 1, totalItems: 250 })],
    ["the total items say end, the total pages say more", () => ({ totalPages: 3, totalItems: 100 })],
    [
      "the totals say end, the flag says more",
      (page) => ({ totalPages: 1, totalItems: 100, hasNextPage: page < 3 }),
    ],
    ["the total is less than what one page holds", () => ({ totalItems: 10 })],
    ["the total pages are none", () => ({ totalPages: 0 })],
    ["the page size is none", () => ({ limit: 0 })],
  ])("%s", async (_, hints) => {
    expect(await readAll(listOfSize(250, 100, hints))).toEqual({ all: items(0, 250), requested: [1, 2, 3] });
  });

  test("a link that never ends, where the total is reached, costs one request", async () => {
    const list = listOfSize(250, 100, () => ({ hasNextPage: true, totalItems: 250 }));
    expect(await readAll(list)).toEqual({ all: items(0, 250), requested: [1, 2, 3, 4] });
  });

  test("total pages counted by another page size cost one request where the total items are reached", async () => {
    const list = listOfSize(250, 100, () => ({ totalPages: 25, totalItems: 250 }));
    expect(await readAll(list)).toEqual({ all: items(0, 250), requested: [1, 2, 3, 4] });
  });
});

describe("an empty page in the middle", () => {
  const holed = [items(0, 100), [], items(200, 300)];
  const listWithHints = (hints: (page: number) => Hints) =>
    fakeList((page) => ({ ...hints(page), items: holed[page - 1] ?? [] }));

  test.each<[string, (page: number) => Hints]>([
    ["total items", () => ({ totalItems: 300 })],
    ["total pages", () => ({ totalPages: 3 })],
    ["both", () => ({ totalItems: 300, totalPages: 3 })],
    [
      "a total, though the flag takes the empty page for the end",
      (page) => ({ totalItems: 300, hasNextPage: page === 1 }),
    ],
    ["a link that goes on", (page) => ({ hasNextPage: page < 3 })],
  ])("does not end a loop that knows of more by %s", async (_, hints) => {
    const { all, requested } = await readAll(listWithHints(hints));
    expect(ids(all)).toEqual([...ids(items(0, 100)), ...ids(items(200, 300))]);
    expect(requested).toEqual([1, 2, 3]);
  });

  test("does not end a loop whose server has a smaller page size of its own", async () => {
    const list = fakeList((page) => ({
      items: page === 3 ? [] : items(page * 50, page * 50 + 50),
      totalItems: 300,
    }));
    expect((await readAll(list)).requested).toEqual(upTo(6));
  });

  test("does not end a loop that began in the middle, or with it", async () => {
    const list = (page: number) =>
      fakeList((at) => ({ items: at === 3 ? [] : items(at * 100, at * 100 + 100), totalItems: 500 }), {
        page,
      });
    expect((await readAll(list(2))).requested).toEqual([2, 3, 4, 5]);
    expect((await readAll(list(3))).requested).toEqual([3, 4, 5]);
  });

  test("does not end a loop that begins with it, and counts as a page", async () => {
    const list = fakeList((page) => ({ items: page === 1 ? [] : items(100, 200), totalItems: 200 }));
    expect(await readAll(list)).toEqual({ all: items(100, 200), requested: [1, 2] });
  });

  test("counts for nothing where no page size is known", async () => {
    const list = fakeList((page) => ({ items: page === 1 ? [] : items(page, page + 1), totalItems: 2 }), {
      limit: undefined,
      countedLimit: undefined,
    });
    expect(await readAll(list)).toEqual({ all: items(2, 4), requested: [1, 2, 3] });
  });

  test("ends a loop where the total says so, whatever a link says", async () => {
    expect(
      (await readAll(fakeList(() => ({ items: [], totalPages: 0, hasNextPage: true })))).requested,
    ).toEqual([1]);
  });

  test("leaves known what the page before it held", async () => {
    const pages = [items(0, 100), [], items(70, 170)].map((page) => ({ items: page, totalItems: 270 }));
    expect((await readAll(fakeListOf(pages))).all).toEqual(items(0, 170));
  });

  test("ends a loop that knows of nothing more", async () => {
    expect((await readAll(fakeListOf(holed))).requested).toEqual([1, 2]);
  });

  test("twice running ends the loop with an error", async () => {
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
  ])("%s gives its items once and ends in an error", async (_, hints) => {
    const { paginator, log } = fakeList(() => ({ ...same, ...hints }));
    const seen: Item[] = [];
    const error = await errorOf(
      (async () => {
        for await (const item of paginator) seen.push(item);
      })(),
    );
    expect(error).toBeInstanceOf(UnexpectedResponseError);
    expect(String(error)).toContain("What page 3 holds has come before");
    expect(seen).toEqual(same.items);
    expect(log).toEqual(["1", "2 ahead", "3 ahead"]);
  });

  test("is known again in another order", async () => {
    const { paginator, log } = fakeList((page) => ({
      items: page % 2 ? items(0, 100) : items(0, 100).toReversed(),
      totalItems: 200,
    }));
    expect(await errorOf(collect(paginator))).toBeInstanceOf(UnexpectedResponseError);
    expect(log).toEqual(["1", "2 ahead", "3 ahead"]);
  });

  test("is told from a rest of the page before that a growing list has pushed on", async () => {
    const pages = [items(0, 100), items(100, 200), items(170, 200), items(199, 200)];
    expect(await readAll(fakeListOf(pages))).toEqual({ all: items(0, 200), requested: [1, 2, 3] });
  });

  test("is found by whoever walks with nextPage() too", async () => {
    const first = await fakeList(() => same).paginator;
    const second = await first.nextPage();
    expect(second).toMatchObject({ items: [], hasNextPage: true });
    expect(await errorOf(second.nextPage())).toBeInstanceOf(UnexpectedResponseError);
  });

  test("carries the status it came with, where the source tells it", async () => {
    const { paginator } = fakeList(() => ({ ...same, status: 203 }));
    expect(await errorOf(collect(paginator))).toMatchObject({ status: 203, outcome: "not-applied" });
  });

  test.each([
    [2, 8],
    [3, 13],
    [7, 29],
  ])(
    "in a circle of %i pages ends in an error after %i, never in an endless loop",
    async (circle, requested) => {
      const { paginator, log } = fakeList((page) =>
        items((page % circle) * 100, (page % circle) * 100 + 100),
      );
      const error = await errorOf(collect(paginator));
      expect(error).toBeInstanceOf(UnexpectedResponseError);
      expect(String(error)).toMatch(/What page \d+ holds has come before/);
      expect(log).toHaveLength(requested);
    },
  );

  test("once, as the list grew by a page, is passed over", async () => {
    const pages = [items(0, 100), items(0, 100), items(100, 130)];
    expect(await readAll(fakeListOf(pages))).toEqual({ all: items(0, 130), requested: [1, 2, 3] });
  });
});

describe("a list that changes while it is read", () => {
  test("does not give items of the page before twice when it grows at its head", async () => {
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

  test("ends where it shrinks, without an error", async () => {
    const list = fakeList((page) => ({
      items: page === 1 ? items(0, 100) : items(page * 100 - 50, Math.min(250, page * 100 + 50)),
      totalItems: page === 1 ? 300 : 250,
    }));
    expect((await readAll(list)).requested).toEqual([1, 2, 3]);
  });

  test("ends where it shrinks to less than was read", async () => {
    const list = fakeList((page) => ({
      items: page === 1 ? items(0, 100) : [],
      totalItems: page === 1 ? 300 : 80,
    }));
    expect(await readAll(list)).toEqual({ all: items(0, 100), requested: [1, 2] });
  });

  test("ends where a total is out of date", async () => {
    const list = listOfSize(250, 100, () => ({ totalItems: 310 }));
    expect(await readAll(list)).toEqual({ all: items(0, 250), requested: [1, 2, 3, 4] });
  });

  test("gives items that show no id, as they cannot be told apart", async () => {
    // As from an answer that is not as it is typed.
    const nameless = [{}, {}] as Item[];
    const list = fakeList((page) => (page < 9 ? nameless : []), { countedLimit: 2 });
    const { all, requested } = await readAll(list);
    expect(all).toHaveLength(16);
    expect(requested).toEqual(upTo(9));
  });

  test("knows no page again that begins or ends with an item that shows no id", async () => {
    const [same, nameless] = [{ id: "same" }, {} as Item];
    const namelessHead = fakeList((page) => (page < 12 ? [nameless, same] : []), { countedLimit: 2 });
    const namelessTail = fakeList((page) => (page < 12 ? [same, nameless] : []), { countedLimit: 2 });
    expect((await readAll(namelessHead)).requested).toEqual(upTo(12));
    expect((await readAll(namelessTail)).requested).toEqual(upTo(12));
  });

  test("tells pages apart by both their ends", async () => {
    const [same, other] = [{ id: "same" }, (page: number) => ({ id: String(page) })];
    const sameHead = fakeList((page) => (page < 12 ? [same, other(page), other(-page)] : []), {
      countedLimit: 3,
    });
    const sameTail = fakeList((page) => (page < 12 ? [other(page), other(-page), same] : []), {
      countedLimit: 3,
    });
    const sameBeginning = fakeList((page) => (page < 12 ? [same, { id: "too" }, other(page)] : []), {
      countedLimit: 3,
    });
    expect((await readAll(sameBeginning)).requested).toEqual(upTo(12));
    expect((await readAll(sameHead)).requested).toEqual(upTo(12));
    expect((await readAll(sameTail)).requested).toEqual(upTo(12));
  });
});
