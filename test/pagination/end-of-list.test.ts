import { inspect } from "node:util";
import { AudienceClient, isAudienceError, UnexpectedResponseError } from "audience-sdk";
import { describe, expect, it } from "vitest";
import {
  collect,
  errorOf,
  type Hints,
  ids,
  type Item,
  items,
  type ListOptions,
  servedList,
  servedListOf,
  unsizedList,
} from "./served-lists.ts";

/** Reads a list to its end; `requested` contains the requested pages. */
async function readAll(list: ReturnType<typeof servedList>) {
  const all = await collect(list.paginator);
  return { all, requested: list.log };
}

/** A list of `count` items in pages of `size`, with hints in its responses. */
function listOfSize(
  count: number,
  size: number,
  hints: (page: number) => Hints = () => ({}),
  options: ListOptions = {},
) {
  return servedList(
    (page) => ({ ...hints(page), items: items((page - 1) * size, Math.min(count, page * size)) }),
    options,
  );
}

const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, at) => first + at);

describe("a list without any hint", () => {
  it.each([
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

  it("of unknown page size ends at an empty page", async () => {
    const { paginator, log } = unsizedList((page) => items((page - 1) * 10, Math.min(25, page * 10)));
    expect((await collect(paginator)).map(({ uuid }) => uuid)).toEqual(ids(items(0, 25)));
    expect(log).toHaveLength(4);
  });

  it("uses the page size of the response where it is smaller than the limit", async () => {
    expect(await readAll(listOfSize(120, 50, () => ({ limit: 50 })))).toEqual({
      all: items(0, 120),
      requested: [1, 2, 3],
    });
  });

  it("uses the page size 100 where the response echoes a limit over 100", async () => {
    const list = listOfSize(150, 100, () => ({ limit: 250 }), { limit: 100 });
    expect(await readAll(list)).toEqual({ all: items(0, 150), requested: [1, 2] });
  });
});

describe("a known total needs exactly its pages", () => {
  const counts = [0, 1, 99, 100, 101, 1_000];
  it.each(counts)("as total items, of %i", async (count) => {
    const { all, requested } = await readAll(listOfSize(count, 100, () => ({ totalItems: count })));
    expect(all).toEqual(items(0, count));
    expect(requested).toEqual(upTo(Math.max(1, Math.ceil(count / 100))));
  });

  it.each(counts)("as total pages, of %i items", async (count) => {
    const pages = Math.ceil(count / 100);
    const { all, requested } = await readAll(listOfSize(count, 100, () => ({ totalPages: pages })));
    expect(all).toEqual(items(0, count));
    expect(requested).toEqual(upTo(Math.max(1, pages)));
  });

  it.each(counts)("as a flag or link, of %i items", async (count) => {
    const pages = Math.max(1, Math.ceil(count / 100));
    const { all, requested } = await readAll(
      listOfSize(count, 100, (page) => ({ hasNextPage: page < pages })),
    );
    expect(all).toEqual(items(0, count));
    expect(requested).toEqual(upTo(pages));
  });

  it("from a page in the middle on", async () => {
    const list = listOfSize(450, 100, () => ({ totalItems: 450 }), { page: 3 });
    expect(await readAll(list)).toEqual({ all: items(200, 450), requested: [3, 4, 5] });
  });

  it("from the last page on, and from a page after it", async () => {
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

  it.each<[string, (page: number) => Hints]>([
    ["the total items indicate more", () => ({ totalItems: 120 })],
    [
      "the total items indicate more and the response echoes the requested limit",
      () => ({ totalItems: 120, limit: 100 }),
    ],
    ["the total pages indicate more", () => ({ totalPages: 3 })],
    ["a link or a flag indicates more", (page) => ({ hasNextPage: page < 3 })],
  ])("where %s", async (_, hints) => {
    expect(await readAll(listOfSize(120, size, hints))).toEqual({ all: items(0, 120), requested: [1, 2, 3] });
  });

  it("where it is by chance as long as the last page", async () => {
    const list = listOfSize(120, 20, () => ({ totalItems: 120 }));
    expect(await readAll(list)).toEqual({ all: items(0, 120), requested: upTo(6) });
  });
});

describe("of several hints", () => {
  it.each<[string, (page: number) => Hints, number[]]>([
    [
      "a link or a flag goes before totals",
      () => ({ hasNextPage: false, totalItems: 250, totalPages: 3 }),
      [1],
    ],
    [
      "a link or a flag goes before totals that are reached",
      (page) => ({ hasNextPage: page < 3, totalItems: 100 }),
      [1, 2, 3],
    ],
    ["a link or a flag goes before the length of the page", () => ({ hasNextPage: false }), [1]],
    [
      "one total that is not reached suffices: of items",
      () => ({ totalPages: 1, totalItems: 250 }),
      [1, 2, 3],
    ],
    [
      "one total that is not reached suffices: of pages",
      () => ({ totalPages: 3, totalItems: 100 }),
      [1, 2, 3],
    ],
    ["a total goes before the length of the page", () => ({ totalItems: 100 }), [1]],
  ])("%s", async (_, hints, requested) => {
    expect((await readAll(listOfSize(250, 100, hints))).requested).toEqual(requested);
  });
});

describe("a total that was passed before counts no more", () => {
  it.each<[string, Hints]>([
    ["total items below a page", { totalItems: 10 }],
    ["total items below the number of items that have come", { totalItems: 150 }],
    ["0 total pages", { totalPages: 0 }],
    ["a page size of 0", { limit: 0 }],
  ])("%s", async (_, hints) => {
    expect(await readAll(listOfSize(250, 100, () => hints))).toEqual({
      all: items(0, 250),
      requested: [1, 2, 3],
    });
  });
});

describe("an empty page in the middle", () => {
  const holed = [items(0, 100), [], items(200, 300)];
  const bothEnds = [...items(0, 100), ...items(200, 300)];

  it.each<[string, (page: number) => Hints]>([
    ["total items", () => ({ totalItems: 200 })],
    ["total pages", () => ({ totalPages: 3 })],
    ["both", () => ({ totalItems: 200, totalPages: 3 })],
    ["both, for pages without a gap", () => ({ totalItems: 200, totalPages: 2 })],
    ["a next link", (page) => ({ hasNextPage: page < 3 })],
    ["a total, although a flag says so", (page) => ({ totalItems: 200, hasNextPage: page === 1 })],
  ])("does not end a loop where there is %s", async (_, hints) => {
    const list = servedList((page) => ({ ...hints(page), items: holed[page - 1] ?? [] }));
    expect(await readAll(list)).toEqual({ all: bothEnds, requested: [1, 2, 3] });
  });

  it("does not end a loop whose server has a smaller page size of its own", async () => {
    const list = servedList((page) => ({
      items: page === 3 ? [] : items(page * 50, Math.min(page * 50 + 50, 350)),
      totalItems: 250,
    }));
    expect((await readAll(list)).requested).toEqual(upTo(6));
  });

  it("is passed where the loop begins with it, and several single ones are", async () => {
    const list = servedList((page) => ({
      items: page % 2 === 1 ? [] : items(page * 100, page * 100 + 100),
      totalItems: 300,
    }));
    expect((await readAll(list)).requested).toEqual(upTo(6));
  });

  it("is passed where no page size is known", async () => {
    const { paginator, log } = unsizedList((page) => ({
      items: page === 1 ? [] : items(page, page + 1),
      totalItems: 2,
    }));
    expect((await collect(paginator)).map(({ uuid }) => uuid)).toEqual(["2", "3"]);
    expect(log).toHaveLength(3);
  });

  it("ends a loop without hints of more", async () => {
    expect((await readAll(servedListOf(holed))).requested).toEqual([1, 2]);
  });
});

/** The error that reading a list ends with, the items before it, and the requests. */
async function readToError({ paginator, log }: ReturnType<typeof servedList>) {
  const seen: Item[] = [];
  const error = await errorOf(
    (async () => {
      for await (const item of paginator) seen.push(item);
    })(),
  );
  expect(error).toBeInstanceOf(UnexpectedResponseError);
  return { error, seen, requested: log.length };
}

describe("two pages running without a new item end a list with an error", () => {
  it("where both are empty: it says how to read on", async () => {
    const list = servedList((page) => ({ items: page === 1 ? items(0, 100) : [], totalItems: 900 }));
    const { error, seen, requested } = await readToError(list);
    expect(error).toMatchObject({ outcome: "not-applied", status: 200, body: { data: [], total: 900 } });
    expect(String(error)).toContain(
      "page 3 is empty, and page 2 held no new item, but the response says that the list goes on. To read on, begin at page 4.",
    );
    expect({ seen, requested }).toEqual({ seen: items(0, 100), requested: 3 });
  });

  it.each<[string, Hints]>([
    ["without a hint", {}],
    ["with a total", { totalItems: 1_000 }],
    ["with a total that its items would reach if each counted", { totalItems: 200 }],
    ["with total pages", { totalPages: 2 }],
    ["with a link", { hasNextPage: true }],
  ])("where the service repeats a page %s", async (_, hints) => {
    const same = items(0, 100);
    const { error, seen, requested } = await readToError(servedList(() => ({ items: same, ...hints })));
    expect(String(error)).toContain(
      "page 3 holds only items of earlier pages, and page 2 held no new item: the service seems to repeat pages.",
    );
    expect({ seen, requested }).toEqual({ seen: same, requested: 3 });
  });

  it("where the service repeats a page in another order", async () => {
    const list = servedList((page) => ({
      items: page % 2 ? items(0, 100) : items(0, 100).toReversed(),
      totalItems: 200,
    }));
    expect((await readToError(list)).requested).toBe(3);
  });

  it.each([2, 3, 7])("where the service repeats a circle of %i pages", async (circle) => {
    const list = servedList((page) => items((page % circle) * 100, (page % circle) * 100 + 100));
    const { seen, requested } = await readToError(list);
    expect(requested).toBe(circle + 2);
    expect(new Set(ids(seen)).size).toBe(seen.length);
  });

  it("where a total counts items that the list hides, after all others have come", async () => {
    const { seen, requested } = await readToError(listOfSize(250, 100, () => ({ totalItems: 310 })));
    expect({ seen, requested }).toEqual({ seen: items(0, 250), requested: 5 });
  });

  it("with nextPage() too", async () => {
    const second = await (await servedList(() => items(0, 100)).paginator).nextPage();
    expect(second).toMatchObject({ items: [], hasNextPage: true });
    expect(await errorOf(second.nextPage())).toBeInstanceOf(UnexpectedResponseError);
  });

  it("but not where a link or a flag says that the second one is the last, and a total counts hidden items", async () => {
    const list = servedList((page) => ({
      items: page < 3 ? items(page * 100, page * 100 + 100) : [],
      totalItems: 310,
      hasNextPage: page < 3,
    }));
    expect((await readAll(list)).requested).toEqual([1, 2, 3, 4]);
  });

  it("but not where the second one is the last", async () => {
    const pages = [items(0, 100), items(0, 100), []];
    expect((await readAll(servedListOf(pages))).requested).toEqual([1, 2, 3]);
  });
});

describe("a list that changes during the iteration", () => {
  it("does not yield items twice when it grows at its head", async () => {
    let head = 0;
    const list = servedList((page) => {
      head -= 30;
      const start = head + 30 + (page - 1) * 100;
      return { items: items(start, Math.min(250, start + 100)), totalItems: 250 - head - 30 };
    });
    const { all } = await readAll(list);
    expect(all).toEqual(items(0, 250));
    expect(new Set(ids(all)).size).toBe(250);
  });

  it("yields no item twice that an empty page was between", async () => {
    const pages = [items(0, 100), [], items(70, 170)].map((page) => ({ items: page, totalItems: 200 }));
    expect((await readAll(servedListOf(pages))).all).toEqual(items(0, 170));
  });

  it("goes on after a page of known items where a total is not reached, although a flag says that it ends", async () => {
    const pages = [items(0, 100), items(0, 100), items(100, 130)];
    const list = servedList((page) => ({
      items: pages[page - 1] ?? [],
      totalItems: 230,
      hasNextPage: page === 1,
    }));
    expect(await readAll(list)).toEqual({ all: items(0, 130), requested: [1, 2, 3] });
  });

  it("shows a page twice when it has grown by one, and goes on", async () => {
    const pages = [items(0, 100), items(0, 100), items(100, 130)];
    expect(await readAll(servedListOf(pages))).toEqual({ all: items(0, 130), requested: [1, 2, 3] });
  });

  it("ends at a short page of known items", async () => {
    const pages = [items(0, 100), items(100, 200), items(170, 200)];
    expect(await readAll(servedListOf(pages))).toEqual({ all: items(0, 200), requested: [1, 2, 3] });
  });

  it("ends where it shrinks to fewer items than were read", async () => {
    const list = servedList((page) => ({
      items: page === 1 ? items(0, 100) : [],
      totalItems: page === 1 ? 300 : 80,
    }));
    expect(await readAll(list)).toEqual({ all: items(0, 100), requested: [1, 2] });
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

const apiKey = "sk_live_9981773aaBBccDD";

const families = [
  ["v1", { data: [{ id: "1" }], links: { next: `/api/v1/customer?api_key=${apiKey}` } }],
  ["v2", { success: true, data: { lists: [{ uuid: "1" }], total_items: 900, debug: apiKey } }],
] as const;

it.each(families)(
  "the error of a %s list whose pages repeat holds its call, and no key",
  async (family, page) => {
    const failed: string[] = [];
    const audience = new AudienceClient({
      baseUrl: "https://api.example.com",
      baseUrlV2: "https://api.example.com",
      apiKey,
      appId: "a",
      rateLimiter: false,
      fetch: async () => Response.json({ ...page, padding: "x".repeat(100_000) }, { status: 203 }),
      hooks: { onResponse: ({ error }) => void (error && failed.push(error.code)) },
    });
    const list = family === "v1" ? audience.v1.customers.list() : audience.v2.lists.list();

    const error = await errorOf(list.toArray());

    expect(error).toMatchObject({
      code: "unexpected_response",
      outcome: "not-applied",
      status: 203,
      request: { operation: family === "v1" ? "v1.customers.list" : "v2.lists.list", attempts: 1 },
    });
    expect(isAudienceError(error) && "body" in error && String(error.body).length).toBeLessThanOrEqual(
      64 * 1024,
    );
    expect(`${JSON.stringify(error)}${inspect(error, { depth: Infinity })}`).not.toContain(
      apiKey.slice(0, 8),
    );
    expect(failed).toEqual(["unexpected_response"]);
  },
);
